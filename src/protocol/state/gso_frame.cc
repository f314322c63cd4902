// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/gso_frame.h"

#include <algorithm>

#include "protocol/counters.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "wire/udp_bulk.h"

namespace omx::protocol {

namespace {

// The window must hold so many, or the sender would wait for requests.
constexpr std::uint32_t kGsoFramesLeast = 3;
// With fewer datagrams a medium message is as fast as a batch of frames, which need not come whole.
constexpr std::uint32_t kMediumDatagrams = 8;

std::uint32_t header_bytes(const Peer& p) {
  return static_cast<std::uint32_t>(wire::kBulkHeader) + peer_overhead(p);
}

}  // namespace

bool gso_known(const State& s, const Peer& p) {
  return s.config.bulk.gso_frames && (p.agreed.features & wire::kFeatureGsoFrame) && p.bulk.address.present();
}

std::uint32_t gso_unit(const State& s, const Peer& p, std::uint32_t length) {
  return wire::gso_frame_unit(length, header_bytes(p), bulk_frame(s, p));
}

bool gso_trusted(const State& s, const Peer& p) {
  return gso_known(s, p) && s.now >= p.bulk.gso_trust.from;
}

bool gso_wanted(State& s, const Peer& p) {
  // Several senders share the receiver's port, whose queue small blocks spare.
  return gso_trusted(s, p) && s.pulling.senders <= 1 &&
         pull_bulk_allowed(s) >= kGsoFramesLeast * wire::kGsoBatchBytes;
}

bool gso_serves(const State& s, const Peer& p, std::uint32_t unit) {
  const std::uint64_t frame = std::uint64_t{unit} + header_bytes(p);
  return gso_known(s, p) && p.bulk.out && frame <= wire::kGsoBatchBytes &&
         frame <= std::uint64_t{wire::kGsoBatchFrames} * bulk_frame(s, p);
}

std::uint32_t gso_medium_unit(const State& s, const Peer& p, std::uint32_t length) {
  constexpr std::uint32_t kAligned = 64;
  constexpr auto kHeader = static_cast<std::uint32_t>(wire::kMediumHeaderMost);
  const std::uint32_t most = wire::kGsoBatchBytes - kHeader - peer_overhead(p);
  const std::uint32_t unit = std::min(length - 1, most) / kAligned * kAligned;
  const bool gains = unit > kMediumDatagrams * bulk_frame(s, p);
  const bool fits =
      gains && gso_trusted(s, p) && gso_serves(s, p, unit + kHeader) && length - unit <= medium_unit(p);
  return fits ? unit : 0;
}

void gso_failed(State& s, Peer& p) {
  if (s.now < p.bulk.gso_trust.from) return;
  bulk_trust_again(s, p.bulk.gso_trust);
  s.count(Counter::gso_frames_cut)++;
  bulk_distrust(s, p.bulk.gso_trust);
}

}  // namespace omx::protocol
