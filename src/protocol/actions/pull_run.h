// SPDX-License-Identifier: BSD-3-Clause
// Begins and ends pulls: the receiver's side of a large message (docs/spec/protocol.md 8.2, 8.3).
#pragma once

#include <cstddef>

#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Pull;
struct State;

// Sets out a transfer by the present sizes of the peer, from the first byte. `rndv`: the announcement, if it
// has just come.
void pull_transfer_begin(State& s, Pull& pull, const wire::Rndv* rndv = nullptr);
// Begins to pull a message for a receive. `tail`: the last rndv.tail bytes, which need not be asked for.
void pull_start(State& s, Request& receive, const wire::Rndv& rndv, const std::byte* tail);
// Starts the transfer again with another handle, because the size of its frames changed.
void pull_restart(State& s, Pull& pull);
void pull_finish(State& s, Pull& pull, Status status);
void pulls_fail(State& s, Peer& p, Status status);

}  // namespace omx::protocol
