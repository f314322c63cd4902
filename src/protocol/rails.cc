// SPDX-License-Identifier: BSD-3-Clause
// Rails: endpoints with several boards each (docs/explanation/rails.md). A path is a board of ours and the
// board of the partner that it reaches. Requests for the data of large messages take any path that works, and
// the answers the same one; all else takes the *home* path, which is that of the boards that the two know
// each other by while it works. What works is shown by probes that come back, never by what somebody
// announced.
#include "protocol/rails.h"

#include <algorithm>
#include <new>

#include "base/bytes.h"
#include "protocol/endpoint.h"
#include "protocol/running_time.h"
#include "protocol/state.h"

namespace omx::protocol {

namespace {

constexpr TimeNs kProbeEvery = 10 * kMillisecond;
constexpr unsigned kDoublings = 7;         // of that
constexpr std::uint8_t kTriesOfBoard = 2;  // then another board of the partner may be the one that is reached
// A host that gets no processor, or a full queue, is silent for so long. Longer silences are outages.
constexpr TimeNs kPatience = 20 * kMillisecond, kPatienceMost = 200 * kMillisecond;
constexpr TimeNs kPatienceKept = 10'000 * kMillisecond;
constexpr std::uint32_t kAnyFrame = ~std::uint32_t{0};

std::uint64_t alias_key(NicId nic, std::uint8_t endpoint) {
  return nic << 8 | endpoint;
}

Partner* alias_find(const State& s, NicId nic, std::uint8_t endpoint) {
  const auto alias = s.rail_aliases.find(alias_key(nic, endpoint));
  return alias == s.rail_aliases.end() ? nullptr : alias->second;
}

void home_set(State& s, Partner& p, std::uint8_t rail) {
  Rails& rails = *p.rails;
  if (rails.home == rail) return;
  if (s.packing.partner == &p) pack_release(s);  // its addresses are written
  rails.home = rail;
  rails.doubted = 0;
}

bool usable(const State& s, const RailPath& path, unsigned rail) {
  return path.up() && !(s.rails_gone >> rail & 1);
}

// The largest frame that is sent to it by any path.
std::uint32_t frame_wanted(const Partner& p) {
  return std::max(p.frame_max, p.frame_in);
}

bool busy(const Partner& p) {
  return p.pulls > 0 || !p.unacked.empty() || !p.await_notify.empty() || !p.connects.empty();
}

bool probe_needed(const State& s, const Partner& p, unsigned rail) {
  const Rails& rails = *p.rails;
  const RailPath& path = rails.paths[rail];
  if (s.rails_gone >> rail & 1) return false;
  // Whoever follows the partner to another home learns by itself when the first one works again: the
  // partner's return may cross what makes us follow.
  if (rail == 0 && rails.home != 0) return true;
  if (rails.doubted != 0 || path.state == RailState::suspected) return true;
  return p.pulls > 0 && (!path.up() || path.frame < frame_wanted(p));
}

// Nobody else shall make us believe that a path works.
std::uint32_t cookie_draw(State& s, const Partner& p) {
  std::uint64_t hash = (s.config.rail_secret + ++s.rail_probes * 0x9E3779B97F4A7C15ULL) ^ p.nic << 16;
  hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::uint32_t>(hash >> 32) | 1;
}

void probe(State& s, Partner& p, unsigned rail) {
  Rails& rails = *p.rails;
  RailPath& path = rails.paths[rail];
  if (path.state == RailState::unknown && path.tries > 0 && path.tries % kTriesOfBoard == 0) {
    path.to = static_cast<std::uint8_t>((path.to + 1) % rails.peer.count);
    path.cookie = 0;
  }
  if (path.cookie == 0) path.cookie = cookie_draw(s, p);
  path.probe_due = s.now + (kProbeEvery << std::min<unsigned>(path.tries, kDoublings));
  if (path.tries < 0xFF) path.tries++;
  probe_rail(s, p, rail, rails.peer.nics[path.to], frame_wanted(p), false, path.cookie);
  s.count(Counter::send_rail_probe)++;
  s.timers.arm_by(p.resend_timer, path.probe_due);
}

// The next one that may carry replies of this pull; the same if there is no other.
std::uint8_t other_than(const State& s, const Pull& pull, unsigned rail) {
  const unsigned usable_ones = rails_usable(s, *pull.partner, pull.unit);
  for (unsigned i = 1; i < kRailsMost; i++) {
    const unsigned next = (rail + i) % kRailsMost;
    if (usable_ones >> next & 1) return static_cast<std::uint8_t>(next);
  }
  return static_cast<std::uint8_t>(rail);
}

// Nothing comes by it, and another one works. What is on its way there is asked for by others.
void suspect(State& s, Partner& p, std::uint8_t rail, TimeNs silent_since) {
  Rails& rails = *p.rails;
  RailPath& path = rails.paths[rail];
  if (!path.up()) return;
  std::uint8_t other = 0;
  while (other < rails.count && (other == rail || !usable(s, rails.paths[other], other))) other++;
  if (other == rails.count) return;
  path.state = RailState::suspected;
  path.tries = 0;
  path.cookie = 0;
  path.probe_due = s.now;
  path.silent_since = silent_since;
  s.count(Counter::rail_suspected)++;
  if (rails.home == rail) home_set(s, p, other);
  for (Pull* pull = s.pull_list.front(); pull; pull = s.pull_list.next(*pull)) {
    for (std::uint32_t i = 0; pull->partner == &p && i < pull->block_count; i++) {
      PullBlock& block = pull->block(i);
      if (!block.missing || block.rail != rail) continue;
      block.rail = other_than(s, *pull, rail);
      pull_ask_again(s, *pull, block, Counter::pull_rerequest_rail);
    }
  }
  rails_tend(s, p);
  s.timers.arm_by(s.pulling.timer, s.now);
}

TimeNs rail_patience(const State& s, const Partner& p, const RailPath& path) {
  const TimeNs learnt = s.now < path.patience_until ? path.patience : 0;
  return std::max({pull_patience(s, p), kPatience, learnt});
}

// Something that we waited for came by it.
void prove(State& s, RailPath& path) {
  if (path.up()) return;
  const TimeNs silence = s.now - std::min(s.now, path.silent_since);
  if (path.state == RailState::suspected && silence <= kPatienceMost / 2) {
    path.patience = std::max(2 * silence, s.now < path.patience_until ? path.patience : 0);
    path.patience_until = s.now + kPatienceKept;
  }
  path.state = RailState::up;
  s.count(Counter::rail_proven)++;
}

}  // namespace

void rails_agree(State& s, Partner& p, const wire::ConnectExt& ext) {
  const bool shared = rails_used(s) && p.mode == wire::Mode::omx && p.near_frame == 0 && !p.self &&
                      (ext.features & wire::kFeatureRails) && (ext.features & wire::kFeatureProbe);
  wire::RailNics theirs = shared ? ext.rails : wire::RailNics{};
  bool wrong = shared && theirs.nics[0] != p.nic;
  for (std::size_t i = 0; i < theirs.count; i++) {
    const Partner* const holder = i == 0 ? nullptr : alias_find(s, theirs.nics[i], p.endpoint);
    wrong = wrong || s.config.rails.place(theirs.nics[i]) != kRailsMost || (holder && holder != &p);
    // Who is known by it himself is not this one.
    const Partner* const other = i == 0 ? nullptr : partner_find(s, theirs.nics[i], p.endpoint);
    wrong = wrong || (other && other->connected());
  }
  if (wrong) {
    s.count(Counter::rail_refused)++;
    theirs = {};
  }
  if (p.rails ? p.rails->peer == theirs : theirs.count == 0) {
    if (p.rails) rails_heard(s, p, true);
    return;
  }
  rails_forget(s, p);
  if (theirs.count == 0) return;
  try {
    for (std::size_t i = 1; i < theirs.count; i++)
      s.rail_aliases.insert_or_assign(alias_key(theirs.nics[i], p.endpoint), &p);
    p.rails = new Rails;
  } catch (const std::bad_alloc&) {  // it goes without
    for (std::size_t i = 1; i < theirs.count; i++)
      s.rail_aliases.erase(alias_key(theirs.nics[i], p.endpoint));
    return;
  }
  Rails& rails = *p.rails;
  rails.count = std::min<std::uint8_t>(s.config.rails.count, kRailsMost);
  rails.peer = theirs;
  for (std::size_t i = 0; i < rails.paths.size(); i++)
    rails.paths[i].to = static_cast<std::uint8_t>(i % theirs.count);
  rails.paths[0].state = RailState::up;  // this very packet came by it, or by one that stands for it
  rails.paths[0].frame = kAnyFrame;
  rails_heard(s, p, true);
}

void rails_forget(State& s, Partner& p) {
  if (!p.rails) return;
  for (std::size_t i = 1; i < p.rails->peer.count; i++)
    s.rail_aliases.erase(alias_key(p.rails->peer.nics[i], p.endpoint));
  delete p.rails;
  p.rails = nullptr;
}

void rails_source(State& s, wire::Head& head, wire::Frame frame) {
  s.rx_nic = head.src;
  Partner* p = nullptr;
  bool follows = false;
  switch (head.type) {
    case wire::PacketType::connect:
      return;  // says itself who it is from
    case wire::PacketType::pull_reply:
    case wire::PacketType::nack_mcp: {
      const std::uint32_t magic = load_be32(frame.data() + 28);
      const Pull* pull = wire::unasked(magic) ? nullptr : pull_of_handle(s, load_be32(frame.data() + 24));
      if (pull) p = pull->partner;
      // It was slow.
      if (p && p->rails && p->rails->peer.place(head.src) != kRailsMost) prove(s, p->rails->paths[s.rx_rail]);
      if (wire::unasked(magic)) p = alias_find(s, head.src, static_cast<std::uint8_t>(magic >> 8));
      break;
    }
    case wire::PacketType::nack_lib:
      p = alias_find(s, head.src, static_cast<std::uint8_t>(frame[17]));
      if (!p) p = partner_find(s, head.src, static_cast<std::uint8_t>(frame[17]));
      break;
    default:
      follows = head.type != wire::PacketType::pull && head.type != wire::PacketType::probe;
      p = alias_find(s, head.src, load_src_endpoint(frame));
      if (!p) p = partner_find(s, head.src, load_src_endpoint(frame));
  }
  if (!p || !p->rails || p->rails->peer.place(head.src) == kRailsMost) return;
  head.src = p->nic;
  rails_heard(s, *p, follows);
}

bool rails_connect(State& s, wire::Head& head, const wire::Connect& packet) {
  if (packet.ext.rails.place(head.src) != kRailsMost) head.src = packet.ext.rails.nics[0];
  // Whoever is known by a board is no other one's.
  if (Partner* const other = alias_find(s, head.src, packet.src_endpoint)) rails_forget(s, *other);
  if (s.rx_rail == 0 || packet.is_reply) return true;
  const Partner* const p = partner_find(s, head.src, packet.src_endpoint);
  return p && p->rails;
}

void rails_heard(State& s, Partner& p, bool follows) {
  Rails& rails = *p.rails;
  RailPath& path = rails.paths[s.rx_rail];
  path.heard = s.now;
  if (s.rx_rail == rails.home) {
    rails.doubted = 0;
    return;
  }
  // The partner found that our home does not work: it sends by what came back to it. Where we found that
  // nothing comes, it will.
  if (!follows || path.state == RailState::suspected) return;
  path.to = static_cast<std::uint8_t>(rails.peer.place(s.rx_nic) % kRailsMost);
  if (rails.home == 0 && rails.paths[0].up()) {
    rails.paths[0].tries = 0;
    rails.paths[0].probe_due = s.now + kProbeEvery;
    s.timers.arm_by(p.resend_timer, rails.paths[0].probe_due);
  }
  home_set(s, p, s.rx_rail);
}

wire::Head rail_head(const State& s, const Partner& p, wire::PacketType type, unsigned rail) {
  const Rails& rails = *p.rails;
  return {rails.peer.nics[rails.paths[rail].to], s.config.rails.nics[rail], p.peer_index, type};
}

unsigned rails_usable(const State& s, const Partner& p, std::uint32_t unit) {
  unsigned bits = 0;
  const std::uint32_t frame = unit + static_cast<std::uint32_t>(wire::kBulkHeader) + partner_overhead(p);
  for (unsigned i = 0; i < p.rails->count; i++) {
    const RailPath& path = p.rails->paths[i];
    if (usable(s, path, i) && path.frame >= frame) bits |= 1U << i;
  }
  return bits ? bits : 1U << p.rails->home;
}

void rails_tend(State& s, Partner& p) {
  for (unsigned i = 0; i < p.rails->count; i++) {
    if (s.now >= p.rails->paths[i].probe_due && probe_needed(s, p, i)) probe(s, p, i);
  }
}

TimeNs rails_due(const State& s, const Partner& p) {
  TimeNs due = kNever;
  if (!busy(p)) return due;
  for (unsigned i = 0; i < p.rails->count; i++) {
    if (probe_needed(s, p, i)) due = std::min(due, p.rails->paths[i].probe_due);
  }
  return std::max(due, s.now + 1);
}

void rails_probe_received(State& s, Partner& p, const wire::Probe& packet, std::size_t size) {
  Rails& rails = *p.rails;
  RailPath& path = rails.paths[s.rx_rail];
  const auto from = static_cast<std::uint8_t>(rails.peer.place(s.rx_nic));
  if (from == kRailsMost || size < packet.size || packet.size > partner_frame(s, p)) return;
  if (!packet.is_reply) {
    // What reaches us is likely to be reached.
    if (path.state == RailState::unknown && path.to != from) {
      path.to = from;
      path.cookie = 0;
    }
    return probe_rail(s, p, s.rx_rail, s.rx_nic, packet.size, true, packet.cookie);
  }
  if (path.cookie == 0 || packet.cookie != path.cookie || path.to != from) return;
  path.cookie = 0;
  path.tries = 0;
  path.probe_due = 0;
  path.frame = s.rx_rail == 0 ? kAnyFrame : packet.size;  // that one has probes of its own
  prove(s, path);
  if (s.rx_rail == 0 || !rails.paths[rails.home].up()) {
    home_set(s, p, s.rx_rail);
  } else if (rails.doubted != 0 && rails.home != s.rx_rail && rails.paths[rails.home].heard < rails.doubted &&
             s.now >= rails.doubted + rail_patience(s, p, rails.paths[rails.home])) {
    suspect(s, p, rails.home, rails.paths[rails.home].heard);
    if (Request* const oldest = p.unacked.front()) send_retransmit(s, *oldest, Counter::resend_timeout);
  }
  s.timers.arm_by(s.pulling.timer, s.now);  // it may be asked for something
}

void rails_doubt(State& s, Partner& p, TimeNs since) {
  Rails& rails = *p.rails;
  const RailPath& home = rails.paths[rails.home];
  if (home.heard >= since) return;
  const bool late = s.now >= since + rail_patience(s, p, home);
  for (unsigned i = 0; late && i < rails.count; i++) {
    if (i == rails.home || !usable(s, rails.paths[i], i) || rails.paths[i].heard < since) continue;
    return suspect(s, p, rails.home, since);
  }
  if (rails.doubted == 0) rails.doubted = s.now;
  rails_tend(s, p);
}

void rails_doubt_of(State& s, Partner& p, const Request& oldest) {
  const TimeNs heard = p.rails->paths[p.rails->home].heard;
  // Not since it was sent last: that may be a moment ago.
  if (oldest.last_sent > heard) rails_doubt(s, p, std::max(oldest.first_sent, heard + 1));
}

bool rail_is_late(const State& s, const Pull& pull, const PullBlock& block) {
  if (!pull.partner->rails) return false;
  const RailPath& path = pull.partner->rails->paths[block.rail];
  return s.now > std::max(block.asked_at, path.heard) + rail_patience(s, *pull.partner, path);
}

TimeNs rails_patience(const State& s, const Partner& p) {
  TimeNs most = 0;
  for (const RailPath& path : p.rails->paths) most = std::max(most, rail_patience(s, p, path));
  return most;
}

void rails_late(State& s, Pull& pull, PullBlock& block) {
  Partner& p = *pull.partner;
  Rails& rails = *p.rails;
  const std::uint8_t rail = block.rail;
  if (rails.paths[rail].heard < block.asked_at) {
    for (unsigned i = 0; i < rails.count; i++) {
      if (i != rail && rails.paths[i].heard >= block.asked_at) suspect(s, p, rail, block.asked_at);
    }
    if (block.rail != rail) return;  // asked for already
    // Nobody knows which of them work, or whether the partner runs.
    if (rails.paths[rails.home].heard < block.asked_at && rails.doubted == 0) rails.doubted = s.now;
    rails_tend(s, p);
  }
  block.rail = other_than(s, pull, rail);
  pull_ask_again(s, pull, block, Counter::pull_rerequest_rail);
}

void rail_carrier(State& s, unsigned rail, bool up) {
  const auto bit = static_cast<std::uint8_t>(1U << rail);
  if (!rails_used(s) || up == !(s.rails_gone & bit)) return;
  s.rails_gone = static_cast<std::uint8_t>(up ? s.rails_gone & ~bit : s.rails_gone | bit);
  for (Partner* p : s.partners) {
    if (!p->rails) continue;
    p->rails->paths[rail].probe_due = s.now;
    if (!up)
      suspect(s, *p, static_cast<std::uint8_t>(rail), 0);
    else if (busy(*p))
      rails_tend(s, *p);
  }
}

void Endpoint::on_frame_by(TimeNs now, unsigned rail, wire::Frame frame) {
  state_->rx_rail = static_cast<std::uint8_t>(rail);
  on_frame(now, frame);
  state_->rx_rail = 0;
}

void Endpoint::rail_carrier(TimeNs now, unsigned rail, bool up) {
  time_enter(*state_, now);
  protocol::rail_carrier(*state_, rail, up);
}

}  // namespace omx::protocol
