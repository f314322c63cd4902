// SPDX-License-Identifier: BSD-3-Clause
// Bulk paths (UDP lanes): which peers have one, and which directions work (docs/reference/wire.md 15).
#pragma once

#include <cstdint>

#include "base/mac.h"
#include "wire/lane.h"
#include "wire/packets.h"

namespace omx::protocol {

struct LaneTrust;
struct Partner;
struct Request;
struct State;

// A message that would go by the partner's lane cannot yet: shows that it is reached.
inline constexpr std::uint32_t kLaneBytes = 4 * 1024, kLaneFragments = 3;  // shorter ones gain nothing

void lane_out_set(Partner& p, bool works);
// Forgets former failures of a bulk path that worked for long.
void lane_trust_again(const State& s, LaneTrust& trust);
void lane_agree(State& s, Partner& p, const wire::ConnectExt& ext);
// Returns the NIC whose peer has that bulk path; 0: none.
NicId lane_owner(const State& s, const wire::LaneAddress& from);
void lane_forget(State& s, Partner& p);
// Notes that datagrams pass, but not those that are made out of a larger one.
void lane_trains_fail(State& s, Partner& p);
// Whether frames for it must be datagrams of their own, as it is not proven that others arrive. Without a
// lane there is no proof, and only what is sent again leaves so.
bool lane_alone(const State& s, const Partner& p);
// Notes that a request of several frames was answered. `again`: what it asked for had been sent before.
void lane_answered(State& s, Partner& p, bool again);
// Distrusts our bulk path for a peer, as what was asked for by it does not come.
void lane_in_fails(State& s, Partner& p);
// A medium message that went by it was acknowledged, or must be sent again.
void lane_medium_done(const State& s, Partner& p, const Request& r);
void lane_medium_lost(State& s, Request& r);

}  // namespace omx::protocol
