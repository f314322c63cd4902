// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/watched.h"

#include <algorithm>

#include "protocol/state/peer.h"
#include "protocol/state/probe_watch.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

// A loop of probes asks at least once in this time.
constexpr TimeNs kProbesWithin = 3'000 * kMillisecond;

}  // namespace

bool probe_watch_lapsed(const State& s, const ProbeWatch& watch) {
  return s.now >= watch.last + kProbesWithin;
}

bool probe_watch_covers(const State& s, const ProbeWatch& watch, const Peer& p) {
  return watch.peer == &p && !probe_watch_lapsed(s, watch);
}

bool watched(const State& s, const Peer& p) {
  if (!p.rx.awaited.empty()) return true;
  return std::any_of(s.reports.probe_watches.begin(), s.reports.probe_watches.end(),
                     [&](const auto& watch) { return probe_watch_covers(s, watch, p); });
}

TimeNs probes_limit(const State& s, const Peer& p) {
  TimeNs limit = kNever;
  for (const ProbeWatch& watch : s.reports.probe_watches)
    if (probe_watch_covers(s, watch, p))
      limit = std::min(limit, time_add(std::max(p.liveness.last_heard, watch.since), s.default_timeout));
  return limit;
}

}  // namespace omx::protocol
