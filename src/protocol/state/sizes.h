// SPDX-License-Identifier: BSD-3-Clause
// Sizes of frames and fragments that a peer is spoken to with.
#pragma once

#include <cstdint>

#include "protocol/state/partner.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"
#include "wire/sizes.h"

namespace omx::protocol {

inline constexpr std::uint32_t kMaxFragments = 64;      // of a medium message: the receiver's bit mask
inline constexpr std::uint32_t kFragmentHeaders = 114;  // what a fragment of a base frame lacks at most
// Outside these no size makes sense; the loopback's 65536 is more than a frame length can say.
inline constexpr std::uint32_t kMtuLeast = 256, kMtuMost = 65535;

std::uint32_t partner_overhead(const Partner& p);
std::uint32_t lane_frame(const State& s, const Partner& p);
// Adapts the frames of the bulk path, as our MTU changed.
void lane_resize(State& s, std::uint32_t own_frame_before);
// Returns what a frame by the bulk path of a peer holds.
wire::Sizes lane_sizes(const State& s, const Partner& p);
// Derives the sizes for a peer from mode, agreed features and the proven frame.
void partner_update_sizes(State& s, Partner& p);
std::uint32_t eager_limit(const State& s, const Partner& p);
std::uint32_t medium_unit(const Partner& p);
bool medium_fits(const Partner& p, const Request& r);
// Bytes of the fragments of a message whose length needs kLaneFragments and more.
std::uint32_t lane_unit(const State& s, const Partner& p, std::uint32_t length);

// A message sent with large fragments must still fit the mask if the frame falls back to the base size.
inline std::uint32_t base_medium_max(const State& s) {
  return kMaxFragments * (s.config.base_frame - kFragmentHeaders);
}

// The largest frame that we can exchange with it, as far as we know.
inline std::uint32_t partner_frame(const State& s, const Partner& p) {
  return p.agreed.near_frame ? p.agreed.near_frame : s.own_frame;
}

}  // namespace omx::protocol
