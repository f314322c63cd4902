// SPDX-License-Identifier: BSD-3-Clause
// The data of a large message are copied by an offload engine (offload.h) while we process the next frames.
// We copy the last reply ourselves, because we would have to wait for the end of its copy. The message is
// complete when all copies are (Goglin, Cluster 2008: asynchronous copies in the receive path).
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct Pull;
struct State;

bool pull_copies_run(State& s, const Pull& pull);
// Puts data of a reply into their place, or lets the offload engine do so. `last`: they are the message's
// last.
void pull_copy(State& s, Pull& pull, std::uint64_t offset, const std::byte* data, std::uint32_t length,
               bool last);
// Returns whether the pull, which would end with this status, has to wait for its copies. Changes the status
// when a copy failed.
bool pull_waits_for_copies(State& s, Pull& pull, Status& status);
// Gives back what finished copies held.
void copies_tend(State& s);

}  // namespace omx::protocol
