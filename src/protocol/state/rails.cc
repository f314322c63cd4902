// SPDX-License-Identifier: BSD-3-Clause
// Endpoints with several boards each (docs/explanation/rails.md). A path is a board of ours and the board of
// the peer that it reaches. Requests for the data of large messages take any path that works, and the answers
// take the same path. All else takes the *home* path: the one between the boards that the two endpoints know
// each other by, while it works. Probes that come back show what works; announcements never do.
#include "protocol/state/rails.h"

#include <algorithm>

#include "base/mac.h"
#include "protocol/counters.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/sizes.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// A host that gets no processor, or a full queue, is silent for such times. Longer silences are outages.
constexpr TimeNs kPatience = 20 * kMillisecond, kPatienceMost = 200 * kMillisecond;
constexpr TimeNs kPatienceKept = 10'000 * kMillisecond;

}  // namespace

std::uint64_t rail_alias_key(NicId nic, std::uint8_t endpoint) {
  return nic << 8 | endpoint;
}

Peer* rail_alias_find(const State& s, NicId nic, std::uint8_t endpoint) {
  const auto alias = s.rails.rail_aliases.find(rail_alias_key(nic, endpoint));
  return alias == s.rails.rail_aliases.end() ? nullptr : alias->second;
}

bool rail_usable(const State& s, const RailPath& path, unsigned rail) {
  return path.up() && !(s.rails.rails_gone >> rail & 1);
}

std::uint32_t rail_frame_wanted(const Peer& p) {
  return std::max(p.agreed.frame_max, p.agreed.frame_in);
}

bool rails_busy(const Peer& p) {
  return p.rx.pulls || !p.tx.unacked.empty() || !p.tx.await_notify.empty() || !p.tx.connects.empty();
}

bool rail_probe_needed(const State& s, const Peer& p, unsigned rail) {
  const Rails& rails = *p.rails;
  const RailPath& path = rails.paths[rail];
  if (s.rails.rails_gone >> rail & 1) return false;
  // An endpoint that followed the peer to another home finds out by itself when the first board works again.
  // The peer's return may cross the packet that made us follow.
  if (rail == 0 && rails.home != 0) return true;
  if (rails.doubted != 0 || path.state == RailState::suspected) return true;
  return p.rx.pulls && (!path.up() || path.frame < rail_frame_wanted(p));
}

TimeNs rail_patience(const State& s, const Peer& p, const RailPath& path) {
  const TimeNs learnt = s.now < path.patience_until ? path.patience : 0;
  return std::max({pull_patience(s, p), kPatience, learnt});
}

void rail_prove(State& s, RailPath& path) {
  if (path.up()) return;
  const TimeNs silence = s.now - std::min(s.now, path.silent_since);
  if (path.state == RailState::suspected && silence <= kPatienceMost / 2) {
    path.patience = std::max(2 * silence, s.now < path.patience_until ? path.patience : 0);
    path.patience_until = s.now + kPatienceKept;
  }
  path.state = RailState::up;
  s.count(Counter::rail_proven)++;
}

void rails_forget(State& s, Peer& p) {
  if (!p.rails) return;
  for (std::size_t i = 1; i < p.rails->peer.count; i++)
    s.rails.rail_aliases.erase(rail_alias_key(p.rails->peer.nics[i], p.endpoint));
  delete p.rails;
  p.rails = nullptr;
}

unsigned rails_usable(const State& s, const Peer& p, std::uint32_t unit) {
  unsigned bits = 0;
  const std::uint32_t frame = unit + static_cast<std::uint32_t>(wire::kBulkHeader) + peer_overhead(p);
  for (unsigned i = 0; i < p.rails->count; i++) {
    const RailPath& path = p.rails->paths[i];
    if (rail_usable(s, path, i) && path.frame >= frame) bits |= 1U << i;
  }
  return bits ? bits : 1U << p.rails->home;
}

TimeNs rails_due(const State& s, const Peer& p) {
  TimeNs due = kNever;
  if (!rails_busy(p)) return due;
  for (unsigned i = 0; i < p.rails->count; i++) {
    if (rail_probe_needed(s, p, i)) due = std::min(due, p.rails->paths[i].probe_due);
  }
  return std::max(due, s.now + 1);
}

TimeNs rails_patience(const State& s, const Peer& p) {
  TimeNs most = 0;
  for (const RailPath& path : p.rails->paths) most = std::max(most, rail_patience(s, p, path));
  return most;
}

bool rail_is_late(const State& s, const Pull& pull, const PullBlock& block) {
  if (!pull.peer->rails) return false;
  const RailPath& path = pull.peer->rails->paths[block.rail];
  return s.now > std::max(block.asked_at, path.heard) + rail_patience(s, *pull.peer, path);
}

}  // namespace omx::protocol
