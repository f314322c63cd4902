// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/watch.h"

#include <algorithm>

namespace omx::protocol {

namespace {

// A loop of probes asks at least so often.
constexpr TimeNs kProbesWithin = 3'000 * kMillisecond;
// Most messages come sooner; those connect for their sender's sake.
constexpr TimeNs kConnectAfter = 1'000 * kMillisecond;

// Returns nullptr if the application has not probed for three seconds.
const State::ProbeWatch* probed(const State& s, const Partner& p) {
  for (const State::ProbeWatch& watch : s.probe_watches)
    if (watch.partner == &p && s.now < watch.last + kProbesWithin) return &watch;
  return nullptr;
}

}  // namespace

void watch_receive(State& s, Request& r, bool reach) {
  Partner& p = *s.partners[r.source->index];
  if (p.self) return;
  r.first_sent = s.now;
  p.reach = p.reach || reach;
  p.awaited.push_back(r);
  retransmit_arm(s, p);
}

void watch_probe(State& s, Partner& p, bool reach) {
  if (p.self) return;
  p.reach = p.reach || reach;
  for (State::ProbeWatch& watch : s.probe_watches) {
    if (watch.partner != &p) continue;
    if (s.now >= watch.last + kProbesWithin) watch.since = s.now;
    watch.last = s.now;
    return retransmit_arm(s, p);
  }
  std::erase_if(s.probe_watches, [&](const auto& watch) { return s.now >= watch.last + kProbesWithin; });
  s.probe_watches.push_back({&p, s.now, s.now});
  retransmit_arm(s, p);
}

bool watched(const State& s, const Partner& p) {
  return !p.awaited.empty() || (!s.probe_watches.empty() && probed(s, p));
}

TimeNs watch_limit(const State& s, Partner& p) {
  TimeNs limit = kNever;
  for (Request* r = p.awaited.front(); r; r = p.awaited.next(*r))
    limit = std::min(limit, time_add(std::max(p.last_heard, r->first_sent), r->timeout));
  if (const auto* watch = probed(s, p))
    limit = std::min(limit, time_add(std::max(p.last_heard, watch->since), s.default_timeout));
  return limit;
}

void watch_connect(State& s, Partner& p, TimeNs& next) {
  if (!p.reach || !p.connects.empty()) return;
  const auto* const watch = probed(s, p);
  TimeNs since = watch ? watch->since : kNever;
  if (const Request* oldest = p.awaited.front()) since = std::min(since, oldest->first_sent);
  if (since == kNever) return;
  if (s.now < since + kConnectAfter) {
    next = std::min(next, since + kConnectAfter);
    return;
  }
  // An instance that was given up is not talked to again behind the application's back.
  if (!connect_start(s, p.nic, p.endpoint, s.config.key, 0, nullptr, true, true, p.ended_session))
    next = std::min(next, s.now + kConnectAfter);  // no memory
}

void watch_fail(State& s, Partner& p, Status status, std::uint32_t session) {
  const auto ends = [&](const Request& r) {
    return session == wire::kUnknownSession || r.session == wire::kUnknownSession || r.session == session;
  };
  List<Request, &Request::queue> others;
  while (Request* r = p.awaited.pop_front()) {
    if (!ends(*r)) {
      others.push_back(*r);
      continue;
    }
    s.posted.remove(*r);
    s.ending_failed++;
    request_finish(s, *r, status);
  }
  while (Request* r = others.pop_front()) p.awaited.push_back(*r);
}

void connect_fail(State& s, Partner& p, Request& r, Status status) {
  r.queue.unlink();
  request_finish(s, r, status);
  if (p.connected() || !p.connects.empty() || !p.reach) return;
  p.gone = status;
  watch_fail(s, p, status, wire::kUnknownSession);
}

}  // namespace omx::protocol
