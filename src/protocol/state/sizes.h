// SPDX-License-Identifier: BSD-3-Clause
// Sizes of the frames and fragments that are sent to a peer.
#pragma once

#include <cstdint>

#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"
#include "wire/sizes.h"

namespace omx::protocol {

inline constexpr std::uint32_t kMaxFragments = 64;      // of a medium message: the receiver's bit mask
inline constexpr std::uint32_t kFragmentHeaders = 114;  // most bytes of a base frame without fragment data
// Sizes outside these limits make no sense. The loopback's 65536 is more than a frame length can express.
inline constexpr std::uint32_t kMtuLeast = 256, kMtuMost = 65535;

std::uint32_t peer_overhead(const Peer& p);
std::uint32_t bulk_frame(const State& s, const Peer& p);
// Adapts the frames of the bulk path after our MTU changed.
void bulk_resize(State& s, std::uint32_t own_frame_before);
// Returns the sizes of frames by the bulk path of a peer.
wire::Sizes bulk_sizes(const State& s, const Peer& p);
// Derives the sizes for a peer from mode, agreed features and the proven frame.
void peer_update_sizes(State& s, Peer& p);
std::uint32_t eager_limit(const State& s, const Peer& p);
std::uint32_t medium_unit(const Peer& p);
// Returns how many frames of the link a medium message to the peer would be. It counts so against the peer's
// window, in whatever frames it goes.
std::uint32_t medium_frames(const Peer& p, std::uint32_t length);
// Returns the same of a message from the peer, or more where the peer's frames may be shorter than ours.
std::uint32_t medium_frames_in(const State& s, const Peer& p, std::uint32_t length);
bool medium_fits(const Peer& p, const Request& r);
// Returns the fragment size of a message that needs kBulkFragments or more fragments.
std::uint32_t bulk_unit(const State& s, const Peer& p, std::uint32_t length);

// Returns whether all fragments of a medium message go by the bulk path, if most do: its one GSO frame, or
// the frames of one batch. Both sides decide so.
bool medium_whole(const State& s, const Peer& p, std::uint32_t unit, std::uint32_t fragments);

// Returns the length up to which messages are medium. A message sent with large fragments must still fit the
// mask if the frame falls back to the base size.
inline std::uint32_t base_medium_max(const State& s) {
  return kMaxFragments * (s.config.base_frame - kFragmentHeaders);
}

// Returns the largest frame that we can exchange with the peer, as far as we know.
inline std::uint32_t peer_frame(const State& s, const Peer& p) {
  return p.agreed.intra_node_frame ? p.agreed.intra_node_frame : s.own_frame;
}

}  // namespace omx::protocol
