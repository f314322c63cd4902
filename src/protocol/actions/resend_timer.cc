// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/resend_timer.h"

#include <algorithm>

#include "protocol/state/peer.h"
#include "protocol/state/rails.h"
#include "protocol/state/request.h"
#include "protocol/state/resend_time.h"
#include "protocol/state/state.h"
#include "protocol/state/watched.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

// Returns whether the timer ends before a message that is sent now can be due. It then looks for itself.
bool ends_early(const State& s, const Peer& p) {
  return s.timers.deadline(p.resend_timer) <= s.now + s.config.reliability.resend_delay_least;
}

// Returns whether the timer covers nothing but at most one message, which was sent once.
bool covers_one_message(const State& s, Peer& p) {
  const Request* const r = p.tx.unacked.front();
  if (r && (r != p.tx.unacked.back() || r->resends > 0 || r->tx.lost || r->spreading())) return false;
  if (!p.connected() || !p.agreed.extended || p.rails || p.rx.partial || p.tx.sacks || p.tx.backoff > 0)
    return false;
  if (p.tx.region_blocked || watched(s, p)) return false;
  return p.tx.connects.empty() && p.tx.queued.empty() && p.tx.await_notify.empty();
}

}  // namespace

void retransmit_arm(State& s, Peer& p) {
  TimeNs next = kNever;
  if (Request* r = ends_early(s, p) ? nullptr : p.tx.unacked.front())
    next = std::min(resend_due(s, p, *r), time_add(request_silent_since(p, *r), r->timeout));
  if (Request* r = p.tx.connects.back())
    next = std::min({next, r->last_sent + connect_delay(s, *r), time_add(r->first_sent, r->timeout)});
  if (!p.tx.await_notify.empty() || watched(s, p) || p.rx.partial ||
      (p.tx.region_blocked && p.tx.unacked.empty()))
    next = std::min(next, s.now + ping_interval(s, s.default_timeout));
  if (p.held_back() && !p.tx.queued.empty()) next = std::min(next, std::max(p.liveness.ping_due, s.now + 1));
  if (p.liveness.probe_size) next = std::min(next, p.liveness.probe_due);
  if (p.rails) next = std::min(next, rails_due(s, p));
  s.timers.arm_by(p.resend_timer, next);
}

bool retransmit_settle(State& s, Peer& p) {
  if (!covers_one_message(s, p)) return false;
  const Request* const r = p.tx.unacked.front();
  TimeNs due = r ? std::min(resend_due(s, p, *r), time_add(request_silent_since(p, *r), r->timeout)) : kNever;
  if (p.liveness.probe_size) due = std::min(due, p.liveness.probe_due);
  if (due <= s.timers.deadline(p.resend_timer)) return false;
  s.timers.move(p.resend_timer, due);
  return true;
}

void retransmit_arm_lone(State& s, Peer& p) {
  const bool lone = p.tx.unacked.front() == p.tx.unacked.back();
  if (lone && s.timers.deadline(p.resend_timer) <= s.now + answer_time(s, p)) return;
  retransmit_arm(s, p);
}

}  // namespace omx::protocol
