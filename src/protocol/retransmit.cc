// SPDX-License-Identifier: BSD-3-Clause
// Timers: what is sent again, and when a silent partner is given up (protocol.md 6). One lazy timer per
// partner covers its messages, connects, MTU probe and pings.
#include <algorithm>

#include "protocol/state.h"

namespace omx::protocol {

namespace {

// Extended receivers keep what arrived early, so a few of the oldest are enough to get things moving; the
// reference drains its early queue one number at a time and needs them all (protocol.md 4 [TRAP]).
constexpr std::uint32_t kResendBurst = 8;
// Retransmissions of a medium message before large frames are suspected.
constexpr std::uint16_t kSuspectMtu = 3;
constexpr std::uint8_t kPingsBeforeGivingUp = 2;

TimeNs add(TimeNs a, TimeNs b) {
  return b >= kNever - a ? kNever : a + b;
}

// Since when we have heard nothing while this request waited.
TimeNs silent_since(const Partner& p, const Request& r) {
  return std::max(p.last_heard, r.first_sent);
}

// True when the request's limit has passed in silence.
bool gave_up(const State& s, const Partner& p, const Request& r) {
  return s.now >= add(silent_since(p, r), r.timeout);
}

TimeNs connect_delay(const State& s, const Request& r) {
  const TimeNs first = s.config.extension ? s.config.resend_delay_extended : s.config.resend_delay;
  return std::min(first << std::min<unsigned>(r.resends, 16), std::max(s.config.resend_delay, first));
}

void connects_check(State& s, Partner& p, TimeNs& next) {
  for (Request* r = p.connects.front(); r;) {
    Request* following = p.connects.next(*r);
    const TimeNs limit = add(r->first_sent, r->timeout);
    if (s.now >= limit) {
      r->queue.unlink();
      request_finish(s, *r, Status::endpoint_unreachable);
    } else {
      if (s.now >= r->last_sent + connect_delay(s, *r)) {
        r->resends++;
        s.count(Counter::resend_timeout)++;
        connect_transmit(s, *r);
      }
      next = std::min({next, limit, r->last_sent + connect_delay(s, *r)});
    }
    r = following;
  }
}

// False when the partner was given up.
bool unacked_check(State& s, Partner& p, TimeNs& next) {
  TimeNs limit = kNever;
  for (Request* r = p.unacked.front(); r; r = p.unacked.next(*r)) {
    if (gave_up(s, p, *r)) {
      partner_cleanup(s, p, Cleanup::given_up);
      return false;
    }
    limit = std::min(limit, add(silent_since(p, *r), r->timeout));
  }
  Request* oldest = p.unacked.front();
  if (!oldest) return true;
  const bool due = s.now >= oldest->last_sent + partner_rto(s, p);
  if (due && p.backoff < 16) p.backoff++;
  std::uint32_t sent = 0;
  bool suspect = false;
  for (Request* r = oldest; r; r = p.unacked.next(*r)) {
    const bool burst = due && !r->sacked && (!p.extended || sent < kResendBurst);
    if (!burst && !r->lost) continue;
    if (r->send_class == SendClass::medium && r->kind == RequestKind::send && r->resends >= kSuspectMtu) {
      // Large frames are suspected only while small ones get through.
      if (p.last_heard > r->last_sent)
        suspect = true;
      else if (p.frame_max > kBaseFrame)
        connect_ping(s, p);
    }
    if (burst) s.count(Counter::resend_timeout)++;
    if (!burst) s.count(Counter::resend_sack)++;
    sent++;
    send_retransmit(s, *r);
  }
  if (suspect && p.frame_max > kBaseFrame) probe_fall_back(s, p);
  next = std::min({next, limit, oldest->last_sent + partner_rto(s, p)});
  return true;
}

// Partners that owe us something without anything of ours being unacknowledged: finished rendezvous that
// wait for NOTIFY, half a message. They are asked for a sign of life (protocol.md 6 [TRAP]).
void liveness_check(State& s, Partner& p, TimeNs& next) {
  TimeNs limit = kNever;
  TimeNs patience = kNever;
  for (Request* r = p.await_notify.front(); r; r = p.await_notify.next(*r)) {
    limit = std::min(limit, add(silent_since(p, *r), r->timeout));
    patience = std::min(patience, r->timeout);
  }
  if (p.partial.active) {
    limit = std::min(limit, add(p.last_heard, s.default_timeout));
    patience = std::min(patience, s.default_timeout);
  }
  if (limit == kNever && p.await_notify.empty() && !p.partial.active) return;
  if (s.now >= limit && p.pings_unanswered >= kPingsBeforeGivingUp) {
    partner_cleanup(s, p, Cleanup::given_up);
    return;
  }
  const TimeNs interval =
      std::max<TimeNs>(std::min(s.config.keepalive_delay, patience / 4), kMillisecond / 4);
  if (s.now >= p.last_heard + interval && s.now >= p.ping_due) {
    connect_ping(s, p);
    if (p.pings_unanswered < 255) p.pings_unanswered++;
    p.ping_due = s.now + interval;
  }
  next =
      std::min({next, std::max(p.ping_due, p.last_heard + interval), std::max(limit, s.now + kMillisecond)});
}

}  // namespace

void retransmit_arm(State& s, Partner& p) {
  TimeNs next = kNever;
  if (Request* r = p.unacked.front())
    next = std::min(r->last_sent + partner_rto(s, p), add(silent_since(p, *r), r->timeout));
  if (Request* r = p.connects.back())
    next = std::min({next, r->last_sent + connect_delay(s, *r), add(r->first_sent, r->timeout)});
  if (!p.await_notify.empty() || p.partial.active)
    next = std::min(next, s.now + std::min(s.config.keepalive_delay, s.default_timeout));
  if (p.probe_size) next = std::min(next, p.probe_due);
  s.timers.arm_by(p.resend_timer, next);
}

void retransmit_timer(State& s, Partner& p) {
  TimeNs next = kNever;
  connects_check(s, p, next);
  if (unacked_check(s, p, next)) liveness_check(s, p, next);
  probe_tick(s, p);
  if (p.probe_size) next = std::min(next, p.probe_due);
  s.timers.arm_by(p.resend_timer, std::max(next, s.now + 1));
}

void timers_run(State& s) {
  while (Timer* t = s.timers.pop_due(s.now)) {
    switch (t->kind) {
      case TimerKind::ack: {
        Partner& p = *timer_owner<Partner, &Partner::ack_timer>(t);
        if (!p.ack_pending) break;
        if (p.ack_due <= s.now)
          ack_transmit(s, p);
        else
          s.timers.arm_by(p.ack_timer, p.ack_due);
        break;
      }
      case TimerKind::resend:
        retransmit_timer(s, *timer_owner<Partner, &Partner::resend_timer>(t));
        break;
      case TimerKind::pull:
        pull_timer(s, *timer_owner<Pull, &Pull::timer>(t));
        break;
    }
  }
}

}  // namespace omx::protocol
