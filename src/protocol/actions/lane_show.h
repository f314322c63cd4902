// SPDX-License-Identifier: BSD-3-Clause
// Shows a peer that its bulk path (UDP) is reached, and announces the data that went by it.
#pragma once

#include <cstdint>

#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct State;

// Announces by the link what was sent by the bulk path, because the receiver may not poll that, or may sleep.
// The last fragment of a medium message is its announcement. `answer`: the answer to a pull, of which more
// comes than was sent (wire::lane_answer()); 0: all was sent.
void lane_announce(State& s, Peer& p, std::uint32_t answer = 0);
void lane_show(State& s, Peer& p);
void lane_offer(State& s, Peer& p);
// Processes a PROBE about bulk paths.
void lane_probe_received(State& s, Peer& p, const wire::Probe& packet);
// Processes what a PULL of the peer says about bulk paths.
void lane_asked(State& s, Peer& p, const wire::Pull& packet);

}  // namespace omx::protocol
