// SPDX-License-Identifier: BSD-3-Clause
// Partners: finding, creating, losing them, and the sizes they are spoken to with.
#include <algorithm>
#include <bit>
#include <cassert>

#include "protocol/direct.h"
#include "protocol/endpoint.h"
#include "protocol/epochs.h"
#include "protocol/news.h"
#include "protocol/running_time.h"
#include "protocol/state.h"
#include "protocol/watch.h"

namespace omx::protocol {

namespace {

std::size_t hash_of(const State& s, NicId nic, std::uint8_t endpoint) {
  const std::uint64_t h = ((nic << 8) | endpoint) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>(h >> 32) & (s.partner_hash.size() - 1);
}

void hash_grow(State& s) {
  s.partner_hash.assign(s.partner_hash.size() * 4, nullptr);
  for (Partner* p : s.partners) {
    Partner*& head = s.partner_hash[hash_of(s, p->nic, p->endpoint)];
    p->hash_next = head;
    head = p;
  }
}

// The largest power of two that an MX-style fragment can have in `frame` bytes; receivers honour the unit
// they are told for medium messages, and for pulls both sides must have the same MTU (docs/spec/wire.md 5).
wire::Sizes mxoe_sizes(std::uint32_t frame, std::uint32_t overhead) {
  const std::uint32_t unit = std::min<std::uint32_t>(4096, std::bit_floor(frame - 48 - overhead));
  return {unit, 8, unit, unit == 4096 ? 8U : 32U};
}

}  // namespace

Partner* partner_find(State& s, NicId nic, std::uint8_t endpoint) {
  Partner* p = s.last_partner;
  if (p && p->nic == nic && p->endpoint == endpoint) return p;
  for (p = s.partner_hash[hash_of(s, nic, endpoint)]; p; p = p->hash_next) {
    if (p->nic == nic && p->endpoint == endpoint) {
      s.last_partner = p;
      return p;
    }
  }
  return nullptr;
}

Partner* partner_create(State& s, NicId nic, std::uint8_t endpoint) {
  if (s.partners.size() >= s.config.max_partners) return nullptr;
  Partner* p = s.partner_slab.create();
  if (!p) return nullptr;
  p->nic = nic;
  p->endpoint = endpoint;
  p->index = static_cast<std::uint32_t>(s.partners.size());
  p->mode = s.config.mode;
  p->last_heard = s.now;
  p->epoch = epoch_first(s.config.session);
  if (s.config.direct) {
    const NearPath path = s.config.direct->path(nic, endpoint);
    p->near_frame = path.frame;
    p->near_rndv_threshold = path.rndv_threshold;
    p->near_pull_frames = path.pull_frames;
  }
  s.partners.push_back(p);
  if (s.partners.size() > s.partner_hash.size()) {
    hash_grow(s);
  } else {
    Partner*& head = s.partner_hash[hash_of(s, nic, endpoint)];
    p->hash_next = head;
    head = p;
  }
  partner_update_sizes(s, *p);
  return p;
}

std::uint32_t partner_overhead(const Partner& p) {
  return p.checksum ? wire::kChecksumBytes : 0;
}

void partner_update_sizes(State& s, Partner& p) {
  if (p.mode == wire::Mode::mxoe) {
    p.sizes = mxoe_sizes(p.extended ? p.frame_agreed : s.own_frame, partner_overhead(p));
  } else if (p.extended) {
    p.sizes = wire::extended_sizes(p.mode, p.frame_max, partner_overhead(p));
    p.sizes.pull_reply_max =
        wire::extended_sizes(p.mode, std::max(p.frame_max, p.frame_in), partner_overhead(p)).pull_reply_max;
    if (p.lane.present()) p.sizes.medium_frag = std::min(p.sizes.medium_frag, lane_sizes(s, p).medium_frag);
    p.sizes.medium_frag -= wire::kHeaderExtBytes;
    p.sizes.medium_frags = kMaxFragments;
  } else {
    p.sizes = wire::reference_sizes(p.mode, s.config.mtu);
  }
  std::uint32_t limit = p.sizes.medium_max();
  if (p.mode == wire::Mode::mxoe) limit = std::min<std::uint32_t>(limit, 32768);  // 16-bit lengths
  if (p.extended && p.mode == wire::Mode::omx && p.near_frame == 0)
    limit = std::min(limit, base_medium_max(s));
  const std::uint32_t wanted = p.near_frame ? p.near_rndv_threshold : s.config.rndv_threshold;
  p.rndv_threshold = std::clamp<std::uint32_t>(wanted, wire::kSmallMax, limit);
}

bool partner_reads_later(const State& s, const Partner& p) {
  return p.near_frame != 0 && s.config.direct && s.config.direct->unread(p.nic, p.endpoint);
}

void partner_sizes_check(State& s, Partner& p) {
  for (Request* r = p.unacked.front(); r; r = p.unacked.next(*r)) {
    if (medium_fits(p, *r)) continue;
    partner_cleanup(s, p, Cleanup::given_up);
    return;
  }
}

namespace {

TimeNs answer_time(const State& s, const Partner& p) {
  if (!p.extended) return s.config.resend_delay;
  if (!p.trip.known()) return s.config.resend_delay_extended;
  return std::max(s.config.resend_delay_least, std::min(p.trip.patience(), s.config.resend_delay_max));
}

}  // namespace

TimeNs partner_rto(const State& s, const Partner& p) {
  const TimeNs base = answer_time(s, p);
  return partner_spread(
      s, p, std::min(base << std::min<unsigned>(p.backoff, 16), std::max(base, s.config.resend_delay_max)));
}

TimeNs partner_spread(const State& s, const Partner& p, TimeNs delay) {
  const std::uint64_t pair = (s.config.nic * 31 + s.config.endpoint) ^ (p.nic << 16) ^ p.endpoint;
  return delay + delay / 4 * ((pair * 0x9E3779B97F4A7C15ULL) >> 56) / 256;
}

namespace {

void fail_list(State& s, List<Request, &Request::queue>& list, Status status) {
  while (Request* r = list.pop_front()) {
    if (r->kind == RequestKind::send && r->send_class == SendClass::large && r->phase != Phase::queued)
      region_release(s, *r);
    if (r->kind == RequestKind::send)
      send_fail(s, *r, status);
    else  // A receive whose NOTIFY did not leave: its message is as complete as one whose NOTIFY was lost.
      request_finish(s, *r, r->kind == RequestKind::receive ? r->status : status);
  }
}

}  // namespace

void partner_renumber(Partner& p) {
  // A number that the peer cannot take for a current one, and the next session count (docs/spec/protocol.md
  // 7).
  p.next_match = seq_next_session(static_cast<Seqnum>(seq_session(p.next_match) | (kSeqFirst ^ 0x30F0)));
  p.last_acked = p.next_match;
  p.epoch = epoch_next(p.epoch);
  p.epoch_offered = false;
}

namespace {

Happened happened(Cleanup why) {
  switch (why) {
    case Cleanup::restarted:
      return Happened::partner_restarted;
    case Cleanup::given_up:
      return Happened::partner_given_up;
    case Cleanup::refused:
      return Happened::partner_refused;
    case Cleanup::abandoned:
      return Happened::partner_abandoned;
    case Cleanup::disconnected:
      break;
  }
  return Happened::partner_disconnected;
}

}  // namespace

namespace {

// A large message that waits for its receive, and whose sender will not send it any more. The sender was told
// that we know of it, and later messages may be here whole: so its place in the order stays, and whoever
// receives it learns that it is lost.
void announcement_fail(State& s, Unexpected& u, Cleanup why, Status status) {
  if (why == Cleanup::disconnected) {  // our application does not want it any more
    arrival_drop(s, u);
    return unexpected_free(s, u);
  }
  u.rendezvous = false;
  u.complete = true;
  u.failed = status;
}

}  // namespace

void partner_cleanup(State& s, Partner& p, Cleanup why, Status status) {
  history_note(s, happened(why), &p);
  if (why == Cleanup::restarted || why == Cleanup::abandoned) s.count(Counter::partner_restarted)++;
  if (why == Cleanup::given_up) s.count(Counter::partner_lost)++;
  if (s.config.observer) [[unlikely]]
    s.config.observer->on_forget(p, why);
  s.ending_failed = s.ending_lost = 0;

  if (p.region_blocked) {
    p.region_blocked = false;
    p.region_wait.unlink();
  }
  // Order of docs/spec/protocol.md 7. What was completely received stays: its sender believes that it was
  // delivered.
  p.notifies_queued = 0;
  p.last_notify = nullptr;
  pack_drop(s, p);
  fail_list(s, p.unacked, status);
  fail_list(s, p.await_notify, status);
  fail_list(s, p.queued, status);
  // A refused message says nothing about a connect under way: that has an answer of its own.
  if (why == Cleanup::given_up || why == Cleanup::disconnected) fail_list(s, p.connects, status);
  watch_fail(s, p, status, p.true_session);
  partial_abandon(s, p, status);
  early_drop(s, p);
  pulls_fail(s, p, status);
  for (Unexpected* u = s.unexpected.front(); u;) {
    Unexpected* next = s.unexpected.next(*u);
    if (u->partner == &p && u->rendezvous) announcement_fail(s, *u, why, status);
    u = next;
  }

  const bool was_extended = p.extended;
  const bool was_open = p.connected();
  p.gone = status;
  if (was_open) p.ended_session = p.true_session;
  p.true_session = p.back_session = wire::kUnknownSession;
  p.back_known = false;
  p.peer_epoch_in_use = false;
  p.frames_unacked = 0;
  p.backoff = 0;
  p.pings_unanswered = 0;
  p.ping_pending = false;
  p.send_acknum = p.recv_acknum = 0;
  p.extended = p.checksum = false;
  p.features = 0;
  p.mode = s.config.mode;
  p.frame_agreed = p.frame_max = p.frame_in = p.probe_size = 0;
  p.probe_wanted = false;
  lane_forget(s, p);
  rails_forget(s, p);
  park_forget(p);
  p.larges_out = p.unasked_pause = p.unasked_skip = 0;
  p.unasked_until = 0;
  p.ack_pending = false;
  p.ack_now.unlink();
  p.sacks = false;
  p.next_send = p.next_acked = static_cast<Seqnum>(seq_session(p.next_send) | kSeqFirst);
  // A reference peer that connects anew starts with the number that our last CONNECT announced, and that may
  // have reached it already: the numbers change only with the session count, which it notices (unlike
  // docs/spec/protocol.md 7). Extended peers have epochs.
  if (why != Cleanup::restarted || was_extended) partner_renumber(p);
  p.last_acked = p.next_match;
  partner_update_sizes(s, p);
  if (!p.awaited.empty()) retransmit_arm(s, p);
  if (!was_open) return;
  if (++p.conversation == 0) p.conversation = 1;  // 0 means none
  p.silence_told = false;
  news_ended(s, p, why, status);
}

void Endpoint::peer_unreachable(TimeNs now, NicId nic, std::uint8_t endpoint) {
  time_enter(*state_, now);
  Partner* p = partner_find(*state_, nic, endpoint);
  if (p) partner_cleanup(*state_, *p, Cleanup::given_up);
}

}  // namespace omx::protocol
