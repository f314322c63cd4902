// SPDX-License-Identifier: BSD-3-Clause
// Bulk paths: large messages travel by UDP where both ends have it (docs/reference/wire.md 15). A sender
// hands the kernel a whole block at once, and the receiver takes it at once. Raw frames cost a call and a
// walk through the network stack each.
// With the first message that would gain, the sender shows by a probe that it reaches the peer's bulk path.
// From then on pulls ask for their data there, and medium messages go there. A short frame by the link tells
// the receiver to poll the bulk path. Data that then do not come go by the link again.
#include "protocol/state/bulk_trust.h"

#include <algorithm>
#include <utility>

#include "protocol/counters.h"
#include "protocol/state/bulk_types.h"
#include "protocol/state/gso_frame.h"
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

void give_up(State& s, Peer& p, BulkPart part) {
  s.count(Counter::bulk_fallback)++;
  bulk_distrust(s, p, part);
}

}  // namespace

void bulk_out_set(Peer& p, bool works) {
  if (p.bulk.out == works) return;
  p.bulk.out = works;
  p.bulk.losses = p.bulk.offers = 0;
}

TimeNs bulk_trusted_from(const Peer& p, BulkPart part) {
  return p.bulk.distrust ? (p.bulk.distrust->*part).from : 0;
}

void bulk_distrust(State& s, Peer& p, BulkPart part) {
  if (!p.bulk.distrust) p.bulk.distrust = s.memory.bulk_distrusts.create();
  if (!p.bulk.distrust) return;
  BulkTrust& trust = p.bulk.distrust->*part;
  trust.from = s.now + (kDistrustFirst << trust.failures);
  if (trust.failures < kDistrustMost) trust.failures++;
}

void bulk_trust_again(const State& s, Peer& p, BulkPart part) {
  if (!p.bulk.distrust) return;
  BulkTrust& trust = p.bulk.distrust->*part;
  if (s.now - trust.from > kForgiven) trust.failures = 0;
}

Peer* bulk_agree(State& s, Peer& p, const wire::ConnectExt& ext) {
  const bool shared =
      s.config.bulk.address.present() && (ext.features & wire::kFeatureBulk) &&
      p.agreed.mode == wire::Mode::omx && p.agreed.intra_node_frame == 0 &&
      wire::bulk_same_network(s.config.bulk.address, ext.bulk_address, s.config.bulk.network_bits);
  // A datagram that holds one frame has no advantage over the frame itself. An exception is a link whose
  // frames are datagrams, too.
  const bool several =
      2U * std::min(s.config.bulk.address.frame, ext.bulk_address.frame) <= wire::kGsoBatchBytes;
  const bool gains = shared && (several || !s.config.bulk.fragments);
  const bool its_own = !s.config.bulk.at_nic || wire::udp_nic(ext.bulk_address.ip) == p.nic;
  const wire::BulkAddress bulk = gains && its_own ? ext.bulk_address : wire::BulkAddress{};
  if (bulk == p.bulk.address) return nullptr;
  bulk_forget(s, p);
  if (!bulk.present()) return nullptr;
  // Two endpoints cannot have the same address at a time. A peer that claims the address of a connected one
  // is wrong, or lies, or comes after one that is gone.
  if (Peer* const owner = s.bulk.owners.find(bulk)) {
    if (owner->connected()) return owner;
    bulk_forget(s, *owner);
  }
  p.bulk.address = bulk;
  if (!s.bulk.owners.add(p)) p.bulk.address = {};  // without memory there is no bulk path
  return nullptr;
}

wire::FrameSender bulk_owner(const State& s, const wire::BulkAddress& from) {
  const Peer* const p = s.bulk.owners.find(from);
  if (!p) return {};
  return {p->nic, p->endpoint, (p->agreed.features & wire::kFeatureSource) != 0};
}

void bulk_forget(State& s, Peer& p) {
  if (p.bulk.address.present()) s.bulk.owners.remove(p);
  p.bulk.address = {};
  p.bulk.in = p.bulk.out = p.bulk.batches_fail = false;
  if (p.bulk.distrust) s.memory.bulk_distrusts.destroy(std::exchange(p.bulk.distrust, nullptr));
  p.bulk.gso_asked = false;
  p.bulk.gso_losses = 0;
  p.bulk.probe_due = 0;
  p.bulk.losses = p.bulk.offers = 0;
  BulkAwaited& w = s.bulk.awaited;
  const auto end = w.messages.begin() + static_cast<std::ptrdiff_t>(w.count);
  const auto left =
      std::remove_if(w.messages.begin(), end, [&](const BulkAwaited::Message& m) { return m.from == &p; });
  w.count = static_cast<std::size_t>(left - w.messages.begin());
}

void bulk_batches_fail(State& s, Peer& p) {
  if (p.bulk.out || p.bulk.batches_fail) return;
  p.bulk.batches_fail = true;
  s.count(Counter::batches_refused)++;
  news_no_batches(s, p);
}

namespace {

// Notes that a GSO batch was lost. batch_passed() notes that one was not.
void batch_lost(State& s, Peer& p) {
  if (!p.bulk.out) return;
  p.bulk.losses = std::min<std::uint8_t>(p.bulk.losses + kLoss, kLossesMost);
  if (p.bulk.losses < kLossesMost) return;
  bulk_out_set(p, false);
  give_up(s, p, &BulkDistrust::out);
  p.bulk.probe_due = bulk_trusted_from(p, &BulkDistrust::out);
}

void batch_passed(Peer& p) {
  if (p.bulk.losses > 0) p.bulk.losses--;
}

// Returns whether the message went by the bulk path, or by a link that works like one.
bool by_batch(const State& s, const Request& r) {
  return r.tx.by_bulk || (s.config.bulk.at_nic && r.send_class == SendClass::medium && r.tx.frames > 1);
}

}  // namespace

void bulk_sent_count(State& s, Request& r) {
  if (std::exchange(r.tx.bulk_noted, true)) return;
  s.count(Counter::messages_sent_bulk)++;
  s.count(Counter::bytes_sent_bulk) += r.msg_length;
}

void bulk_received_count(State& s, std::uint32_t length) {
  s.count(Counter::messages_received_bulk)++;
  s.count(Counter::bytes_received_bulk) += length;
}

bool bulk_alone(const State& s, const Peer& p) {
  return s.config.bulk.at_nic && p.bulk.address.present() && !p.bulk.out;
}

void bulk_answered(State& s, Peer& p, bool again) {
  if (again)
    batch_lost(s, p);
  else
    batch_passed(p);
}

void bulk_in_fails(State& s, Peer& p) {
  if (!p.bulk.in) return;
  p.bulk.in = false;
  give_up(s, p, &BulkDistrust::in);
}

void bulk_medium_done(const State& s, Peer& p, const Request& r) {
  if (r.tx.by_gso && r.resends == 0 && p.bulk.gso_losses > 0) p.bulk.gso_losses--;
  if (by_batch(s, r) && r.resends == 0) batch_passed(p);
}

void bulk_medium_lost(State& s, Request& r) {
  if (r.tx.by_gso) {
    if (r.resends <= 1) gso_medium_lost(s, *r.peer);
    return;  // this tells nothing of batches of frames
  }
  if (by_batch(s, r) && r.resends <= 1) batch_lost(s, *r.peer);
}

}  // namespace omx::protocol
