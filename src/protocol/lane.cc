// SPDX-License-Identifier: BSD-3-Clause
// Lanes: large messages by UDP, where both ends have it (docs/reference/wire.md 15). A sender hands the
// kernel a whole block at once, and the receiver takes it at once, where raw frames cost a call and a walk
// through the network stack each. With the first message that would gain, the sender shows by a probe that it
// reaches the lane. From then on pulls ask for their data there, and medium messages go there; a short frame
// by the link tells the receiver to look. What then does not come goes by the link again.
#include <algorithm>
#include <new>
#include <utility>

#include "protocol/news.h"
#include "protocol/state.h"
#include "wire/udp_nic.h"

namespace omx::protocol {

namespace {

constexpr TimeNs kProbeEvery = 10 * kMillisecond;
constexpr unsigned kOffersMost = 7;  // doublings of that
constexpr TimeNs kDistrustFirst = 100 * kMillisecond;
constexpr unsigned kDistrustMost = 13;
constexpr TimeNs kForgiven = 60'000 * kMillisecond;
// Messages that had to be sent again, less half of those that had not.
constexpr std::uint8_t kLossesMost = 8, kLoss = 2;
constexpr TimeNs kLook = 1 * kMillisecond;
constexpr std::uint32_t kShortProbe = 64;
// What makes a cookie that of the first of two probes, and of one that is alone.
constexpr std::uint32_t kFirstOfTwo = 1, kAlone = 2;
constexpr unsigned kOffersAlone = 3;  // after so many pairs without an answer one is sent alone, too

std::uint32_t lane_frame(const State& s, const Partner& p) {
  return std::min(s.config.lane.frame, p.lane.frame);
}

void distrust(State& s, LaneTrust& trust) {
  s.count(Counter::lane_fallback)++;
  trust.from = s.now + (kDistrustFirst << trust.failures);
  if (trust.failures < kDistrustMost) trust.failures++;
}

void out_set(Partner& p, bool works) {
  if (p.lane_out == works) return;
  p.lane_out = works;
  p.lane_losses = p.lane_offers = 0;
}

// What worked for long is not judged by what once was.
void trust_again(const State& s, LaneTrust& trust) {
  if (s.now - trust.from > kForgiven) trust.failures = 0;
}

// Only who is reached at the announced address can tell it: nobody's partner is sent what is not for it.
std::uint32_t probe_cookie(const State& s, const Partner& p) {
  std::uint64_t hash =
      s.config.lane_secret ^ (p.nic << 16 | p.endpoint) ^ std::uint64_t{p.true_session} << 32;
  for (const std::uint8_t byte : p.lane.ip) hash = (hash ^ byte) * 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ p.lane.port) * 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::uint32_t>(hash >> 32);
}

// The pull to which it is an answer, if some of it is still to come by the lane; else nullptr. What is asked
// for again may be a part of a block.
Pull* answer_due(State& s, std::uint32_t answer) {
  Pull* const pull = pull_of_slot(s, answer);
  if (!pull || !pull->by_lane || !pull->partner->lane_in) return nullptr;
  const std::uint32_t last = answer - 1;
  for (std::uint32_t i = 0; i < pull->block_count; i++) {
    const PullBlock& block = pull->block(i);
    const std::uint32_t at = (last - block.first) & wire::kLaneAnswerFrame;
    if (at < block.frames) return block.missing << (63 - at) ? pull : nullptr;
  }
  return nullptr;
}

void answer_await(LaneAwaited& w, std::uint32_t answer, const Pull& pull) {
  w.progress = std::max(w.progress, pull.last_reply);
  const auto end = w.answers.begin() + static_cast<std::ptrdiff_t>(w.answer_count);
  if (std::find(w.answers.begin(), end, answer) != end) return;
  if (w.answer_count < w.answers.size())
    w.answers[w.answer_count++] = answer;
  else
    w.more = true;
}

}  // namespace

void lane_agree(State& s, Partner& p, const wire::ConnectExt& ext) {
  const bool shared = s.config.lane.present() && (ext.features & wire::kFeatureLane) &&
                      p.mode == wire::Mode::omx && p.near_frame == 0 &&
                      wire::lane_same_network(s.config.lane, ext.lane, s.config.lane_network_bits);
  // A datagram that holds one frame has nothing over the frame itself, unless that is a datagram, too.
  const bool several = 2U * std::min(s.config.lane.frame, ext.lane.frame) <= wire::kGsoBatchBytes;
  const bool gains = shared && (several || !s.config.lane_fragments);
  const bool its_own = !s.config.lane_at_nic || wire::udp_nic(ext.lane.ip) == p.nic;
  const wire::LaneAddress lane = gains && its_own ? ext.lane : wire::LaneAddress{};
  if (lane == p.lane) return;
  lane_forget(s, p);
  if (!lane.present()) return;
  // Two NICs cannot have the same; who says so is wrong, or lies about where it may be reached. Of one NIC, a
  // port is the endpoint's that opened last.
  try {
    const auto [owner, added] = s.lane_owners.try_emplace({lane.ip, lane.port}, &p);
    if (!added && owner->second->nic != p.nic) return;
    if (!added) {
      lane_forget(s, *owner->second);
      s.lane_owners.insert_or_assign({lane.ip, lane.port}, &p);
    }
    p.lane = lane;
  } catch (const std::bad_alloc&) {  // it goes without
  }
}

NicId lane_owner(const State& s, const wire::LaneAddress& from) {
  const auto owner = s.lane_owners.find({from.ip, from.port});
  return owner == s.lane_owners.end() ? 0 : owner->second->nic;
}

void lane_forget(State& s, Partner& p) {
  const auto owner = s.lane_owners.find({p.lane.ip, p.lane.port});
  if (owner != s.lane_owners.end() && owner->second == &p) s.lane_owners.erase(owner);
  p.lane = {};
  p.lane_in = p.lane_out = p.trains_fail = false;
  p.lane_in_trust = p.lane_out_trust = {};
  p.lane_probe_due = 0;
  p.lane_losses = p.lane_offers = 0;
  LaneAwaited& w = s.lane_awaited;
  const auto end = w.messages.begin() + static_cast<std::ptrdiff_t>(w.count);
  const auto left =
      std::remove_if(w.messages.begin(), end, [&](const LaneAwaited::Message& m) { return m.from == &p; });
  w.count = static_cast<std::size_t>(left - w.messages.begin());
}

void lane_resize(State& s, std::uint32_t own_frame_before) {
  std::uint16_t& frame = s.config.lane.frame;
  if (!s.config.lane.present()) return;
  const std::int64_t grown = std::int64_t{frame} + s.own_frame - own_frame_before;
  frame = static_cast<std::uint16_t>(std::clamp<std::int64_t>(grown, kMtuLeast, wire::kGsoBatchBytes));
}

wire::Sizes lane_sizes(const State& s, const Partner& p) {
  return wire::extended_sizes(p.mode, lane_frame(s, p), partner_overhead(p));
}

void lane_offer(State& s, Partner& p) {
  if (!p.lane_out) lane_show(s, p);
}

void lane_show(State& s, Partner& p) {
  if (!p.lane.present() || s.now < p.lane_probe_due) return;
  p.lane_probe_due = s.now + (kProbeEvery << std::min<unsigned>(p.lane_offers, kOffersMost));
  if (p.lane_offers < 0xFF) p.lane_offers++;
  const std::uint32_t cookie = probe_cookie(s, p);
  // Two that the kernel gets as one, of which the second counts: there are NICs that announce segmentation
  // and cannot do it, and then nothing but the first arrives, or none.
  probe_lane(s, p, LaneProbe::by_lane, lane_frame(s, p), cookie ^ kFirstOfTwo);
  probe_lane(s, p, LaneProbe::by_lane, lane_frame(s, p), cookie);
  if (p.lane_offers > kOffersAlone && !p.trains_fail)
    probe_lane(s, p, LaneProbe::alone, lane_frame(s, p), cookie ^ kAlone);
  lane_announce(s, p);
}

namespace {

// Datagrams pass, but not those that are made out of a larger one.
void trains_fail(State& s, Partner& p) {
  if (p.lane_out || std::exchange(p.trains_fail, true)) return;
  s.count(Counter::trains_refused)++;
  news_trains(s, p);
}

// What left as one was lost, or was not.
void train_lost(State& s, Partner& p) {
  if (!p.lane_out || (p.lane_losses += kLoss) < kLossesMost) return;
  out_set(p, false);
  distrust(s, p.lane_out_trust);
  p.lane_probe_due = p.lane_out_trust.from;
}

void train_passed(Partner& p) {
  if (p.lane_losses > 0) p.lane_losses--;
}

// Whether the message went by the lane, or by a link that is like one.
bool by_train(const State& s, const Request& r) {
  return r.by_lane || (s.config.lane_at_nic && r.send_class == SendClass::medium && r.frames > 1);
}

}  // namespace

bool lane_alone(const State& s, const Partner& p) {
  return s.config.lane_at_nic && p.lane.present() && !p.lane_out;
}

void lane_answered(State& s, Partner& p, bool again) {
  if (again)
    train_lost(s, p);
  else
    train_passed(p);
}

void lane_probe_received(State& s, Partner& p, const wire::Probe& packet) {
  if (!p.lane.present()) return;
  if (packet.flags & wire::kFlagLaneProbe) {
    lane_announced(s, p, std::nullopt, packet.cookie);
  } else if (packet.is_reply) {
    if (packet.cookie == (probe_cookie(s, p) ^ kAlone)) return trains_fail(s, p);
    if (s.now < p.lane_out_trust.from || packet.cookie != probe_cookie(s, p)) return;
    trust_again(s, p.lane_out_trust);
    out_set(p, true);
    p.trains_fail = false;
  } else if (packet.size >= lane_frame(s, p) && s.now >= p.lane_in_trust.from) {
    trust_again(s, p.lane_in_trust);
    p.lane_in = true;
    probe_lane(s, p, LaneProbe::seen, kShortProbe, packet.cookie);
  }
}

void lane_asked(State& s, Partner& p, const wire::Pull& packet) {
  if (packet.flags & wire::kFlagLane) lane_offer(s, p);
  if (packet.flags & wire::kFlagLaneProbe) lane_show(s, p);
}

void lane_in_fails(State& s, Partner& p) {
  if (!p.lane_in) return;
  p.lane_in = false;
  distrust(s, p.lane_in_trust);
}

void lane_medium_done(const State& s, Partner& p, const Request& r) {
  if (by_train(s, r) && r.resends == 0) train_passed(p);
}

void lane_medium_lost(State& s, Request& r) {
  if (by_train(s, r) && r.resends <= 1) train_lost(s, *r.partner);
}

void lane_announce(State& s, Partner& p, std::uint32_t answer) {
  probe_lane(s, p, LaneProbe::look, kShortProbe, answer);
}

std::uint32_t lane_unit(const State& s, const Partner& p, std::uint32_t length) {
  const std::uint32_t most = medium_unit(p), overhead = lane_frame(s, p) - lane_sizes(s, p).medium_frag;
  const std::uint32_t unit = wire::train_unit(length, most, overhead);
  return (length + unit - 1) / unit <= kMaxFragments ? unit : most;
}

void lane_announced(State& s, Partner& p, std::optional<Seqnum> message, std::uint32_t answer) {
  if (!p.lane.present()) return;
  LaneAwaited& w = s.lane_awaited;
  if (s.now >= w.until) w = {};
  if (answer != 0) {
    const Pull* const pull = answer_due(s, answer);
    if (!pull || pull->partner != &p) return;  // it came first
    w.until = s.now + kLook;
    return answer_await(w, answer, *pull);
  }
  w.until = s.now + kLook;
  std::size_t i = 0;
  while (i < w.count && w.messages[i].from != &p) i++;
  if (message && i < w.messages.size()) {
    w.messages[i] = {&p, *message};
    w.count = std::max(w.count, i + 1);
  } else {
    w.replies = true;
  }
}

bool lane_awaited(State& s, TimeNs now) {
  LaneAwaited& w = s.lane_awaited;
  if (now >= w.until) return false;
  if (w.replies || w.more || w.answer_count > 0) return true;
  const auto awaited = [](const LaneAwaited::Message& m) {
    return seq_same_session(m.number, m.from->next_match) &&
           seq_diff(m.number, m.from->next_match) <= kEarlyWindow;
  };
  while (w.count > 0 && !awaited(w.messages[w.count - 1])) w.count--;
  if (w.count == 0) w.until = 0;
  return w.count > 0;
}

namespace {

// Whose message comes by the lane next; nullptr: not known.
Partner* medium_sender(State& s) {
  const LaneAwaited& w = s.lane_awaited;
  if (!lane_awaited(s, s.now) || w.replies || w.more || w.answer_count > 0 || w.count != 1) return nullptr;
  Partner* p = w.messages[0].from;
  return w.messages[0].number == p->next_match ? p : nullptr;
}

}  // namespace

std::size_t medium_expected(State& s, std::span<ExpectedFrame> out) {
  Partner* p = medium_sender(s);
  // With a checksum the frame must be in one piece.
  if (!p || !p->partial.active || p->checksum || s.suspended) return 0;
  const Partial& partial = p->partial;
  std::size_t n = 0;
  const std::uint32_t unit = partial.unit, fragments = (partial.msg_length + unit - 1) / unit;
  for (std::uint32_t i = 0; i < fragments && n < out.size(); i++) {
    if (partial.mask >> i & 1) continue;
    const std::uint32_t offset = i * unit, length = std::min(unit, partial.msg_length - offset);
    std::byte* place = partial_place(partial, offset, length);
    if (!place) break;
    out[n++] = {.place = place,
                .length = length,
                .header = partial.header,
                .index = i,
                .handle = 0,
                .sender = p,
                .message = partial.message()};
  }
  return n;
}

void lane_came(State& s) {
  LaneAwaited& w = s.lane_awaited;
  w.replies = false;
  const TimeNs before = w.progress;
  std::size_t left = 0;
  for (std::size_t i = 0; i < w.answer_count; i++) {
    const Pull* const pull = answer_due(s, w.answers[i]);
    if (!pull) continue;
    w.answers[left++] = w.answers[i];
    w.progress = std::max(w.progress, pull->last_reply);
  }
  w.answer_count = left;
  // On a slow cable a train takes half a millisecond. What others send by their lanes is no sign of it.
  if (w.progress > before) w.until = s.now + kLook;
  if (s.now >= w.until) w = {};
}

}  // namespace omx::protocol
