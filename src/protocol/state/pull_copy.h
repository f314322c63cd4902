// SPDX-License-Identifier: BSD-3-Clause
// The data of a large message are copied by somebody else while we look at the next frames (offload.h): each
// reply's but the last one's, whose end would have to be waited for. The message is complete when all copies
// are (Goglin, Cluster 2008: asynchronous copies in the receive path).
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct Pull;
struct State;

bool pull_copies_run(State& s, const Pull& pull);
// Puts data of a reply into their place, or has it done. `last`: they are the last of the message.
void pull_copy(State& s, Pull& pull, std::uint64_t offset, const std::byte* data, std::uint32_t length,
               bool last);
// Whether the pull that would end so has to wait for its copies. Changes the status when one is lost.
bool pull_waits_for_copies(State& s, Pull& pull, Status& status);
// Gives back what copies held that are over.
void copies_tend(State& s);

}  // namespace omx::protocol
