// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/watch.h"

#include <algorithm>
#include <utility>

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

bool names_another(const Request& r, std::uint32_t session) {
  return r.session != wire::kUnknownSession && r.session != session;
}

// The oldest receive whose source is not the instance that we are connected to.
const Request* unreached(Partner& p) {
  Request* r = p.awaited.front();
  while (r && p.connected() && !names_another(*r, p.true_session)) r = p.awaited.next(*r);
  return r;
}

// Ends the receives of which `ends` is true.
template <typename Ends>
void end_awaited(State& s, Partner& p, Status status, Ends ends) {
  List<Request, &Request::queue> others;
  while (Request* r = p.awaited.pop_front()) {
    if (!ends(*r)) {
      others.push_back(*r);
      continue;
    }
    s.ending_failed++;
    if (r->multi) {
      multi_end(s, *r, status);
      continue;
    }
    s.posted.remove(*r);
    request_finish(s, *r, status);
  }
  while (Request* r = others.pop_front()) p.awaited.push_back(*r);
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

Status watch_probe(State& s, Partner& p, bool reach) {
  if (p.self) return Status::pending;
  p.reach = p.reach || reach;
  for (State::ProbeWatch& watch : s.probe_watches) {
    if (watch.partner != &p) continue;
    const Status failed = std::exchange(watch.failed, Status::pending);
    const bool anew = failed != Status::pending || s.now >= watch.last + kProbesWithin;
    if (anew) watch.since = s.now;
    watch.last = s.now;
    retransmit_arm(s, p);
    return failed;
  }
  std::erase_if(s.probe_watches, [&](const auto& watch) { return s.now >= watch.last + kProbesWithin; });
  s.probe_watches.push_back({&p, s.now, s.now});
  retransmit_arm(s, p);
  return Status::pending;
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
  const auto* const watch = p.connected() ? nullptr : probed(s, p);
  TimeNs since = watch ? watch->since : kNever;
  if (const Request* oldest = unreached(p)) since = std::min(since, oldest->first_sent);
  if (since == kNever) return;
  if (s.now < since + kConnectAfter) {
    next = std::min(next, since + kConnectAfter);
    return;
  }
  // An instance that was given up is not talked to again behind the application's back.
  const std::uint32_t shunned = p.connected() ? wire::kUnknownSession : p.ended_session;
  if (!connect_start(s, p.nic, p.endpoint, s.config.key, 0, nullptr, true, true, shunned))
    next = std::min(next, s.now + kConnectAfter);  // no memory
}

void watch_fail(State& s, Partner& p, Status status, std::uint32_t session) {
  end_awaited(s, p, status, [&](const Request& r) {
    return session == wire::kUnknownSession || !names_another(r, session);
  });
}

void watch_answered(State& s, Partner& p, const Request& connect, std::uint32_t session) {
  end_awaited(s, p, Status::bad_session, [&](const Request& r) {
    return names_another(r, session) && r.first_sent <= connect.first_sent;
  });
}

void connect_fail(State& s, Partner& p, Request& r, Status status) {
  r.queue.unlink();
  request_finish(s, r, status);
  if (p.connected() || !p.connects.empty() || !p.reach) return;
  p.gone = status;
  for (State::ProbeWatch& watch : s.probe_watches)
    if (watch.partner == &p) watch.failed = status;
  watch_fail(s, p, status, wire::kUnknownSession);
}

}  // namespace omx::protocol
