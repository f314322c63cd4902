// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/watch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/list.h"
#include "protocol/actions/completion.h"
#include "protocol/actions/connect_start.h"
#include "protocol/actions/resend_timer.h"
#include "protocol/state/news.h"
#include "protocol/state/peer.h"
#include "protocol/state/probe_watch.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"
#include "protocol/state/watched.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// Most messages come sooner, and connect for their sender's sake.
constexpr TimeNs kConnectAfter = 1'000 * kMillisecond;

// The instance that a receive or a series of probes waits for.
struct Waiter {
  std::uint32_t session, shunned;
  bool reach;
  TimeNs since;
};

Waiter waiter(const Request& r) {
  return {r.session, r.shunned, r.rx.reach, r.first_sent};
}

Waiter waiter(const ProbeWatch& watch) {
  return {watch.session, watch.shunned, watch.reach, watch.since};
}

template <typename Visit>
void visit_waiters(const State& s, Peer& p, Visit visit) {
  for (Request* r = p.rx.awaited.front(); r; r = p.rx.awaited.next(*r)) visit(waiter(*r));
  for (const ProbeWatch& watch : s.reports.probe_watches)
    if (probe_watch_covers(s, watch, p)) visit(waiter(watch));
}

// Ends the waiters for which `ends` is true. Returns false when there were none.
template <typename Ends>
bool end_waiters(State& s, Peer& p, Status status, Ends ends) {
  bool any = false;
  for (ProbeWatch& watch : s.reports.probe_watches) {
    if (watch.peer != &p || !ends(waiter(watch))) continue;
    watch.failed = status;
    any = true;
  }
  List<Request, &Request::queue> others;
  while (Request* r = p.rx.awaited.pop_front()) {
    if (!ends(waiter(*r))) {
      others.push_back(*r);
      continue;
    }
    any = true;
    s.reports.ending_failed++;
    if (r->rx.multi_receive) {
      multi_receive_end(s, *r, status);
      continue;
    }
    s.matching.posted.remove(*r);
    request_finish(s, *r, status);
  }
  while (Request* r = others.pop_front()) p.rx.awaited.push_back(*r);
  return any;
}

}  // namespace

void watch_receive(State& s, Request& r) {
  Peer& p = *s.peers.by_index[r.rx.source->index];
  if (p.self) return;
  r.first_sent = s.now;
  p.rx.awaited.push_back(r);
  retransmit_arm(s, p);
}

Status watch_probe(State& s, const ReceiveOp& op) {
  Peer& p = *s.peers.by_index[op.source->index];
  if (p.self) return Status::pending;
  for (ProbeWatch& watch : s.reports.probe_watches) {
    if (watch.peer != &p || watch.session != op.session || watch.shunned != op.shunned) continue;
    Status failed = std::exchange(watch.failed, Status::pending);
    // A failure that was noted some time ago may no longer hold.
    if (probe_watch_lapsed(s, watch) || (p.connected() && !names_another(op.session, p.session.true_session)))
      failed = Status::pending;
    if (probe_watch_lapsed(s, watch) || failed != Status::pending) watch.since = s.now;
    watch.last = s.now;
    watch.reach = op.reach;
    retransmit_arm(s, p);
    return failed;
  }
  std::erase_if(s.reports.probe_watches, [&](const auto& watch) { return probe_watch_lapsed(s, watch); });
  s.reports.probe_watches.push_back({&p, op.session, op.shunned, op.reach, s.now, s.now});
  retransmit_arm(s, p);
  return Status::pending;
}

void watch_connect(State& s, Peer& p, TimeNs& next) {
  if (!p.tx.connects.empty() || !watched(s, p)) return;
  // The check is made only once in a while, because there may be many waiters and the timer is a fast one.
  const TimeNs turn = s.now / kConnectAfter + 1;
  const auto moment = static_cast<std::uint8_t>(turn);
  if (moment == p.liveness.watch_looked) {
    next = std::min(next, turn * kConnectAfter);
    return;
  }
  TimeNs since = kNever;
  std::uint32_t shunned = wire::kUnknownSession;
  visit_waiters(s, p, [&](const Waiter& w) {
    if (!w.reach || (p.connected() && !names_another(w.session, p.session.true_session))) return;
    shunned = since == kNever || shunned == w.shunned ? w.shunned : wire::kUnknownSession;
    since = std::min(since, w.since);
  });
  if (since == kNever) {
    p.liveness.watch_looked = moment;
    return;
  }
  if (s.now < since + kConnectAfter) {
    next = std::min(next, since + kConnectAfter);
    return;
  }
  if (!connect_start(s, p.nic, p.endpoint, s.config.key, 0, nullptr, true, true, shunned))
    next = std::min(next, s.now + kConnectAfter);  // no memory
}

void watch_fail(State& s, Peer& p, Status status, std::uint32_t session) {
  end_waiters(s, p, status, [&](const Waiter& w) { return !names_another(w.session, session); });
}

void watch_opened(State& s, Peer& p) {
  if (p.rx.awaited.empty() && s.reports.probe_watches.empty()) return;
  end_waiters(s, p, p.session.gone, [&](const Waiter& w) {
    return w.shunned != wire::kUnknownSession && w.shunned == p.session.true_session;
  });
}

void watch_answered(State& s, Peer& p, const Request& connect, std::uint32_t session) {
  end_waiters(s, p, Status::bad_session, [&](const Waiter& w) {
    return names_another(w.session, session) && w.since <= connect.first_sent;
  });
  watch_opened(s, p);
}

void connect_fail(State& s, Peer& p, Request& r, Status status) {
  r.queue.unlink();
  const bool for_waiters = r.hidden;  // the application has no request that reports this
  request_finish(s, r, status);
  if (p.connected() || !p.tx.connects.empty()) return;
  if (!end_waiters(s, p, status, [](const Waiter& w) { return w.reach; })) return;
  p.session.gone = status;
  if (for_waiters) news_unreached(s, p, status);
}

void connect_shunned(State& s, Peer& p, Request& r) {
  const std::uint32_t session = r.shunned;
  r.queue.unlink();
  request_finish(s, r, p.session.gone);
  end_waiters(s, p, p.session.gone, [&](const Waiter& w) { return w.shunned == session; });
}

}  // namespace omx::protocol
