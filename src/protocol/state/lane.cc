// SPDX-License-Identifier: BSD-3-Clause
// Bulk paths: large messages travel by UDP where both ends have it (docs/reference/wire.md 15). A sender
// hands the kernel a whole block at once, and the receiver takes it at once. Raw frames cost a call and a
// walk through the network stack each.
// With the first message that would gain, the sender shows by a probe that it reaches the peer's bulk path.
// From then on pulls ask for their data there, and medium messages go there. A short frame by the link tells
// the receiver to poll the bulk path. Data that then do not come go by the link again.
#include "protocol/state/lane.h"

#include <algorithm>
#include <new>
#include <utility>

#include "protocol/counters.h"
#include "protocol/state/lane_types.h"
#include "protocol/state/news.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"
#include "protocol/types.h"
#include "wire/udp_nic.h"

namespace omx::protocol {

namespace {

constexpr TimeNs kDistrustFirst = 100 * kMillisecond;
constexpr unsigned kDistrustMost = 13;
constexpr TimeNs kForgiven = 60'000 * kMillisecond;
// The score of losses: a message that had to be sent again adds kLoss, any other subtracts 1.
constexpr std::uint8_t kLossesMost = 8, kLoss = 2;

void distrust(State& s, LaneTrust& trust) {
  s.count(Counter::lane_fallback)++;
  trust.from = s.now + (kDistrustFirst << trust.failures);
  if (trust.failures < kDistrustMost) trust.failures++;
}

}  // namespace

void lane_out_set(Peer& p, bool works) {
  if (p.bulk.lane_out == works) return;
  p.bulk.lane_out = works;
  p.bulk.lane_losses = p.bulk.lane_offers = 0;
}

void lane_trust_again(const State& s, LaneTrust& trust) {
  if (s.now - trust.from > kForgiven) trust.failures = 0;
}

void lane_agree(State& s, Peer& p, const wire::ConnectExt& ext) {
  const bool shared = s.config.lane.present() && (ext.features & wire::kFeatureLane) &&
                      p.agreed.mode == wire::Mode::omx && p.agreed.near_frame == 0 &&
                      wire::lane_same_network(s.config.lane, ext.lane, s.config.lane_network_bits);
  // A datagram that holds one frame has no advantage over the frame itself. An exception is a link whose
  // frames are datagrams, too.
  const bool several = 2U * std::min(s.config.lane.frame, ext.lane.frame) <= wire::kGsoBatchBytes;
  const bool gains = shared && (several || !s.config.lane_fragments);
  const bool its_own = !s.config.lane_at_nic || wire::udp_nic(ext.lane.ip) == p.nic;
  const wire::LaneAddress lane = gains && its_own ? ext.lane : wire::LaneAddress{};
  if (lane == p.bulk.lane) return;
  lane_forget(s, p);
  if (!lane.present()) return;
  // Two NICs cannot have the same address: a peer that claims the address of another is wrong, or lies. On
  // one NIC, a port belongs to the endpoint that opened last.
  try {
    const auto [owner, added] = s.lanes.lane_owners.try_emplace({lane.ip, lane.port}, &p);
    if (!added && owner->second->nic != p.nic) return;
    if (!added) {
      lane_forget(s, *owner->second);
      s.lanes.lane_owners.insert_or_assign({lane.ip, lane.port}, &p);
    }
    p.bulk.lane = lane;
  } catch (const std::bad_alloc&) {  // the peer stays without a bulk path
  }
}

NicId lane_owner(const State& s, const wire::LaneAddress& from) {
  const auto owner = s.lanes.lane_owners.find({from.ip, from.port});
  return owner == s.lanes.lane_owners.end() ? 0 : owner->second->nic;
}

void lane_forget(State& s, Peer& p) {
  const auto owner = s.lanes.lane_owners.find({p.bulk.lane.ip, p.bulk.lane.port});
  if (owner != s.lanes.lane_owners.end() && owner->second == &p) s.lanes.lane_owners.erase(owner);
  p.bulk.lane = {};
  p.bulk.lane_in = p.bulk.lane_out = p.bulk.trains_fail = false;
  p.bulk.lane_in_trust = p.bulk.lane_out_trust = {};
  p.bulk.lane_probe_due = 0;
  p.bulk.lane_losses = p.bulk.lane_offers = 0;
  LaneAwaited& w = s.lanes.lane_awaited;
  const auto end = w.messages.begin() + static_cast<std::ptrdiff_t>(w.count);
  const auto left =
      std::remove_if(w.messages.begin(), end, [&](const LaneAwaited::Message& m) { return m.from == &p; });
  w.count = static_cast<std::size_t>(left - w.messages.begin());
}

void lane_trains_fail(State& s, Peer& p) {
  if (p.bulk.lane_out || std::exchange(p.bulk.trains_fail, true)) return;
  s.count(Counter::trains_refused)++;
  news_trains(s, p);
}

namespace {

// Notes that a GSO batch was lost. train_passed() notes that one was not.
void train_lost(State& s, Peer& p) {
  if (!p.bulk.lane_out || (p.bulk.lane_losses += kLoss) < kLossesMost) return;
  lane_out_set(p, false);
  distrust(s, p.bulk.lane_out_trust);
  p.bulk.lane_probe_due = p.bulk.lane_out_trust.from;
}

void train_passed(Peer& p) {
  if (p.bulk.lane_losses > 0) p.bulk.lane_losses--;
}

// Returns whether the message went by the bulk path, or by a link that works like one.
bool by_train(const State& s, const Request& r) {
  return r.tx.by_lane || (s.config.lane_at_nic && r.send_class == SendClass::medium && r.tx.frames > 1);
}

}  // namespace

bool lane_alone(const State& s, const Peer& p) {
  return s.config.lane_at_nic && p.bulk.lane.present() && !p.bulk.lane_out;
}

void lane_answered(State& s, Peer& p, bool again) {
  if (again)
    train_lost(s, p);
  else
    train_passed(p);
}

void lane_in_fails(State& s, Peer& p) {
  if (!p.bulk.lane_in) return;
  p.bulk.lane_in = false;
  distrust(s, p.bulk.lane_in_trust);
}

void lane_medium_done(const State& s, Peer& p, const Request& r) {
  if (by_train(s, r) && r.resends == 0) train_passed(p);
}

void lane_medium_lost(State& s, Request& r) {
  if (by_train(s, r) && r.resends <= 1) train_lost(s, *r.peer);
}

}  // namespace omx::protocol
