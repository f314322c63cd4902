// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/gso_frame.h"

#include <algorithm>
#include <cassert>

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

std::uint32_t header_bytes(const Peer& p) {
  return static_cast<std::uint32_t>(wire::kBulkHeader) + peer_overhead(p);
}

std::uint32_t gso_frame_most(const State& s, const Peer& p) {
  return std::min<std::uint32_t>(wire::kGsoBatchBytes, wire::kGsoBatchFrames * bulk_frame(s, p));
}

}  // namespace

bool gso_known(const State& s, const Peer& p) {
  return s.config.bulk.gso_frames && (p.agreed.features & wire::kFeatureGsoFrame) && p.bulk.address.present();
}

std::uint32_t gso_unit(const State& s, const Peer& p, std::uint32_t length) {
  return wire::gso_frame_unit(length, header_bytes(p), bulk_frame(s, p));
}

bool gso_trusted(const State& s, const Peer& p) {
  return gso_known(s, p) && s.now >= bulk_trusted_from(p, &BulkDistrust::gso);
}

bool gso_wanted(State& s, const Peer& p) {
  // Several senders share the receiver's port, whose queue small blocks spare.
  return gso_trusted(s, p) && s.pulling.senders <= 1 &&
         pull_bulk_allowed(s) >= kGsoFramesLeast * wire::kGsoBatchBytes;
}

bool gso_serves(const State& s, const Peer& p, std::uint32_t unit) {
  return gso_known(s, p) && p.bulk.out && std::uint64_t{unit} + header_bytes(p) <= gso_frame_most(s, p);
}

std::uint32_t gso_medium_unit(const State& s, const Peer& p, std::uint32_t length) {
  constexpr std::uint32_t kAligned = 64;
  assert(p.bulk.out);
  if (!gso_trusted(s, p)) return 0;
  const std::uint32_t header = static_cast<std::uint32_t>(wire::kMediumHeaderMost) + peer_overhead(p);
  const std::uint32_t most = gso_frame_most(s, p);
  if (most <= header + kAligned) return 0;
  const std::uint32_t unit = (most - header) / kAligned * kAligned;
  if (length <= unit) return length;
  return length - unit <= medium_unit(p) ? unit : 0;
}

void gso_medium_lost(State& s, Peer& p) {
  constexpr std::uint8_t kLoss = 2, kLossesMost = 4;
  p.bulk.gso_losses = std::min<std::uint8_t>(p.bulk.gso_losses + kLoss, kLossesMost);
  if (p.bulk.gso_losses == kLossesMost) gso_failed(s, p);
}

void gso_failed(State& s, Peer& p) {
  if (s.now < bulk_trusted_from(p, &BulkDistrust::gso)) return;
  p.bulk.gso_losses = 0;
  bulk_trust_again(s, p, &BulkDistrust::gso);
  s.count(Counter::gso_frames_cut)++;
  bulk_distrust(s, p, &BulkDistrust::gso);
}

}  // namespace omx::protocol
