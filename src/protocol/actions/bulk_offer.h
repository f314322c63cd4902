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
// comes than was sent (wire::bulk_answer()); 0: all was sent.
void bulk_announce(State& s, Peer& p, std::uint32_t answer = 0);
void bulk_show(State& s, Peer& p);
void bulk_offer(State& s, Peer& p);
// Processes a PROBE about bulk paths.
void bulk_probe_received(State& s, Peer& p, const wire::Probe& packet);
// Processes what a PULL of the peer says about bulk paths.
void bulk_asked(State& s, Peer& p, const wire::Pull& packet);

}  // namespace omx::protocol
