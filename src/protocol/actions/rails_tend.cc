// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/rails_tend.h"

#include <algorithm>
#include <new>

#include "protocol/actions/coalesce.h"
#include "protocol/actions/probe.h"
#include "protocol/actions/pull_request.h"
#include "protocol/counters.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/pull.h"
#include "protocol/state/rail_paths.h"
#include "protocol/state/rails.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

constexpr TimeNs kProbeEvery = 10 * kMillisecond;
constexpr unsigned kDoublings = 7;         // of kProbeEvery, at most
constexpr std::uint8_t kTriesOfBoard = 2;  // then another board of the peer may be the one that is reached

}  // namespace

void rails_home_set(State& s, Peer& p, std::uint8_t rail) {
  Rails& rails = *p.rails;
  if (rails.home == rail) return;
  if (s.coalescing.peer == &p) coalesce_release(s);  // the frame that is being packed has the old addresses
  rails.home = rail;
  rails.doubted = 0;
}

namespace {

// Returns a cookie that no other host can guess, so that none makes us believe that a path works.
std::uint32_t cookie_draw(State& s, const Peer& p) {
  std::uint64_t hash = (s.config.rail_secret + ++s.rails.rail_probes * 0x9E3779B97F4A7C15ULL) ^ p.nic << 16;
  hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::uint32_t>(hash >> 32) | 1;
}

void probe(State& s, Peer& p, unsigned rail) {
  Rails& rails = *p.rails;
  RailPath& path = rails.paths[rail];
  if (path.state == RailState::unknown && path.tries > 0 && path.tries % kTriesOfBoard == 0) {
    path.to = static_cast<std::uint8_t>((path.to + 1) % rails.peer.count);
    path.cookie = 0;
  }
  if (path.cookie == 0) path.cookie = cookie_draw(s, p);
  path.probe_due = s.now + (kProbeEvery << std::min<unsigned>(path.tries, kDoublings));
  if (path.tries < 0xFF) path.tries++;
  probe_rail(s, p, rail, rails.peer.nics[path.to], rail_frame_wanted(p), false, path.cookie);
  s.count(Counter::send_rail_probe)++;
  s.timers.arm_by(p.resend_timer, path.probe_due);
}

// Returns the next board that may carry replies of this pull, or the same if there is no other.
std::uint8_t other_than(const State& s, const Pull& pull, unsigned rail) {
  const unsigned usable_ones = rails_usable(s, *pull.peer, pull.unit);
  for (unsigned i = 1; i < kRailsMost; i++) {
    const unsigned next = (rail + i) % kRailsMost;
    if (usable_ones >> next & 1) return static_cast<std::uint8_t>(next);
  }
  return static_cast<std::uint8_t>(rail);
}

}  // namespace

void rails_suspect(State& s, Peer& p, std::uint8_t rail, TimeNs silent_since) {
  Rails& rails = *p.rails;
  RailPath& path = rails.paths[rail];
  if (!path.up()) return;
  std::uint8_t other = 0;
  while (other < rails.count && (other == rail || !rail_usable(s, rails.paths[other], other))) other++;
  if (other == rails.count) return;
  path.state = RailState::suspected;
  path.tries = 0;
  path.cookie = 0;
  path.probe_due = s.now;
  path.silent_since = silent_since;
  s.count(Counter::rail_suspected)++;
  if (rails.home == rail) rails_home_set(s, p, other);
  for (Pull* pull = s.transfers.pull_list.front(); pull; pull = s.transfers.pull_list.next(*pull)) {
    for (std::uint32_t i = 0; pull->peer == &p && i < pull->block_count; i++) {
      PullBlock& block = pull->block(i);
      if (!block.missing || block.rail != rail) continue;
      block.rail = other_than(s, *pull, rail);
      pull_ask_again(s, *pull, block, Counter::pull_rerequest_rail);
    }
  }
  rails_tend(s, p);
  s.timers.arm_by(s.pulling.timer, s.now);
}

void rails_tend(State& s, Peer& p) {
  for (unsigned i = 0; i < p.rails->count; i++) {
    if (s.now >= p.rails->paths[i].probe_due && rail_probe_needed(s, p, i)) probe(s, p, i);
  }
}

void rails_doubt(State& s, Peer& p, TimeNs since) {
  Rails& rails = *p.rails;
  const RailPath& home = rails.paths[rails.home];
  if (home.heard >= since) return;
  const bool late = s.now >= since + rail_patience(s, p, home);
  for (unsigned i = 0; late && i < rails.count; i++) {
    if (i == rails.home || !rail_usable(s, rails.paths[i], i) || rails.paths[i].heard < since) continue;
    return rails_suspect(s, p, rails.home, since);
  }
  if (rails.doubted == 0) rails.doubted = s.now;
  rails_tend(s, p);
}

void rails_doubt_of(State& s, Peer& p, const Request& oldest) {
  const TimeNs heard = p.rails->paths[p.rails->home].heard;
  // The last transmission may be a moment ago, so the wait is not counted from it.
  if (oldest.last_sent > heard) rails_doubt(s, p, std::max(oldest.first_sent, heard + 1));
}

void rails_late(State& s, Pull& pull, PullBlock& block) {
  Peer& p = *pull.peer;
  Rails& rails = *p.rails;
  const std::uint8_t rail = block.rail;
  if (rails.paths[rail].heard < block.asked_at) {
    for (unsigned i = 0; i < rails.count; i++) {
      if (i != rail && rails.paths[i].heard >= block.asked_at) rails_suspect(s, p, rail, block.asked_at);
    }
    if (block.rail != rail) return;  // rails_suspect() has asked again already
    // Neither which boards work nor whether the peer runs is known.
    if (rails.paths[rails.home].heard < block.asked_at && rails.doubted == 0) rails.doubted = s.now;
    rails_tend(s, p);
  }
  block.rail = other_than(s, pull, rail);
  pull_ask_again(s, pull, block, Counter::pull_rerequest_rail);
}

void rail_carrier(State& s, unsigned rail, bool up) {
  const auto bit = static_cast<std::uint8_t>(1U << rail);
  if (!rails_used(s) || up == !(s.rails.rails_gone & bit)) return;
  s.rails.rails_gone = static_cast<std::uint8_t>(up ? s.rails.rails_gone & ~bit : s.rails.rails_gone | bit);
  for (Peer* p : s.peers.by_index) {
    if (!p->rails) continue;
    p->rails->paths[rail].probe_due = s.now;
    if (!up)
      rails_suspect(s, *p, static_cast<std::uint8_t>(rail), 0);
    else if (rails_busy(*p))
      rails_tend(s, *p);
  }
}

void rails_heard(State& s, Peer& p, bool follows) {
  Rails& rails = *p.rails;
  RailPath& path = rails.paths[s.rails.rx_rail];
  path.heard = s.now;
  if (s.rails.rx_rail == rails.home) {
    rails.doubted = 0;
    return;
  }
  // The peer found that our home does not work, and sends by a path that came back to it. We do not follow it
  // to a path that we suspect ourselves.
  if (!follows || path.state == RailState::suspected) return;
  path.to = static_cast<std::uint8_t>(rails.peer.place(s.rails.rx_nic) % kRailsMost);
  if (rails.home == 0 && rails.paths[0].up()) {
    rails.paths[0].tries = 0;
    rails.paths[0].probe_due = s.now + kProbeEvery;
    s.timers.arm_by(p.resend_timer, rails.paths[0].probe_due);
  }
  rails_home_set(s, p, s.rails.rx_rail);
}

void rails_agree(State& s, Peer& p, const wire::ConnectExt& ext) {
  const bool shared = rails_used(s) && p.agreed.mode == wire::Mode::omx && p.agreed.intra_node_frame == 0 &&
                      !p.self && (ext.features & wire::kFeatureRails) && (ext.features & wire::kFeatureProbe);
  wire::RailNics theirs = shared ? ext.rails : wire::RailNics{};
  bool wrong = shared && theirs.nics[0] != p.nic;
  for (std::size_t i = 0; i < theirs.count; i++) {
    const Peer* const holder = i == 0 ? nullptr : rail_alias_find(s, theirs.nics[i], p.endpoint);
    wrong = wrong || s.config.rails.place(theirs.nics[i]) != kRailsMost || (holder && holder != &p);
    // If another connected peer already owns this NIC address, it is a different host.
    const Peer* const other = i == 0 ? nullptr : peer_find(s, theirs.nics[i], p.endpoint);
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
      s.rails.rail_aliases.insert_or_assign(rail_alias_key(theirs.nics[i], p.endpoint), &p);
    p.rails = new Rails;
  } catch (const std::bad_alloc&) {  // the peer stays with one board
    for (std::size_t i = 1; i < theirs.count; i++)
      s.rails.rail_aliases.erase(rail_alias_key(theirs.nics[i], p.endpoint));
    return;
  }
  Rails& rails = *p.rails;
  rails.count = std::min<std::uint8_t>(s.config.rails.count, kRailsMost);
  rails.peer = theirs;
  for (std::size_t i = 0; i < rails.paths.size(); i++)
    rails.paths[i].to = static_cast<std::uint8_t>(i % theirs.count);
  rails.paths[0].state = RailState::up;  // this very packet came by it, or by a path that stands for it
  rails.paths[0].frame = kRailAnyFrame;
  rails_heard(s, p, true);
}

}  // namespace omx::protocol
