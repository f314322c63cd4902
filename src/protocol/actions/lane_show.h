// SPDX-License-Identifier: BSD-3-Clause
// Shows a peer that its bulk path (UDP lane) is reached, and announces what went by it.
#pragma once

#include <cstdint>

#include "wire/packets.h"

namespace omx::protocol {

struct Partner;
struct State;

// What was sent there is announced by the link: the receiver may not look there, or sleep. Of a medium
// message the last fragment is the announcement.
// `answer`: which to a pull, of which more comes than was sent (wire::lane_answer()); 0: all was sent.
void lane_announce(State& s, Partner& p, std::uint32_t answer = 0);
void lane_show(State& s, Partner& p);
void lane_offer(State& s, Partner& p);
// Takes a PROBE about bulk paths.
void lane_probe_received(State& s, Partner& p, const wire::Probe& packet);
// Takes what a PULL of the peer says about bulk paths.
void lane_asked(State& s, Partner& p, const wire::Pull& packet);

}  // namespace omx::protocol
