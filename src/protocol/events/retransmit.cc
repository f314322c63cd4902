// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/retransmit.h"

#include <algorithm>

#include "base/list.h"
#include "protocol/actions/connect_start.h"
#include "protocol/actions/connect_tx.h"
#include "protocol/actions/probe.h"
#include "protocol/actions/rails_tend.h"
#include "protocol/actions/send_tx.h"
#include "protocol/actions/watch.h"
#include "protocol/counters.h"
#include "protocol/events/cleanup.h"
#include "protocol/events/legacy_connect.h"
#include "protocol/state/news.h"
#include "protocol/state/peer.h"
#include "protocol/state/rails.h"
#include "protocol/state/request.h"
#include "protocol/state/resend_time.h"
#include "protocol/state/state.h"
#include "protocol/state/watched.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

// An extended receiver keeps early messages, so a few of the oldest are enough. The reference drains its
// early queue one number at a time and needs them all (docs/spec/protocol.md 4 [TRAP]).
constexpr std::uint32_t kResendBurst = 8;
// Retransmissions of a medium message before large frames are suspected.
constexpr std::uint16_t kSuspectMtu = 3;
// ... and further ones where the path is known to lose frames.
constexpr std::uint16_t kSpreadMore = 4;
constexpr std::uint8_t kPingsBeforeGivingUp = 2;
// Repetitions of a message without an answer before its peer is given up, however short the time-out is: on a
// network that loses frames, one or two of them are lost now and then.
constexpr std::uint16_t kResendsBeforeGivingUp = 3;

// Visits requests from the front of the list, enough to include the one that ends first. The list may be very
// long when many sends wait for their receives. Unless time-outs differ, the oldest requests end first, and
// only NOTIFYs stand before them.
template <class Visit>
void visit_first(List<Request, &Request::queue>& list, Visit visit) {
  constexpr unsigned kLook = 512;
  unsigned seen = 0;
  for (Request* r = list.front(); r && (seen < kLook || r->home->timeouts_differ); r = list.next(*r), seen++)
    visit(*r);
}

// Returns when the first request of the list ends if the peer stays silent.
TimeNs silence_limit(const Peer& p, List<Request, &Request::queue>& list) {
  TimeNs limit = kNever;
  visit_first(list,
              [&](Request& r) { limit = std::min(limit, time_add(request_silent_since(p, r), r.timeout)); });
  return limit;
}

// Returns whether a message was repeated so often that its frames may be too large.
bool suspicious(const Request& r) {
  const std::uint16_t most = r.tx.spread > 0 ? kSuspectMtu + kSpreadMore : kSuspectMtu;
  return r.send_class == SendClass::medium && r.kind == RequestKind::send && r.resends >= most &&
         !r.spreading();
}

// Returns when the peer of this message counts as silent, if it stays so: after repetitions and time for the
// last answer. Without this a limit shorter than an answer takes would end a live peer.
TimeNs silent_at(const State& s, const Peer& p, const Request& oldest) {
  return oldest.resends < kResendsBeforeGivingUp ? kNever : oldest.last_sent + time_to_answer(s, p);
}

// Returns whether the peer was asked again recently and did not answer. After our own long absence it was
// not.
bool asked_without_answer(const State& s, const Peer& p, const Request& oldest) {
  const TimeNs recent = 2 * std::max(time_to_answer(s, p), peer_rto(s, p));
  return s.now >= silent_at(s, p, oldest) && s.now - oldest.last_sent <= recent;
}

void connects_check(State& s, Peer& p, TimeNs& next) {
  for (Request* r = p.tx.connects.front(); r;) {
    Request* following = p.tx.connects.next(*r);
    const TimeNs limit = time_add(r->first_sent, r->timeout);
    if (s.now >= limit) {
      connect_in_vain(s, p, *r);
      connect_fail(s, p, *r, Status::endpoint_unreachable);
    } else {
      if (s.now >= r->last_sent + connect_delay(s, *r)) {
        r->resends++;
        if (p.rails) rails_doubt(s, p, r->last_sent);
        s.count(Counter::resend_timeout)++;
        connect_transmit(s, *r);
      }
      next = std::min({next, limit, r->last_sent + connect_delay(s, *r)});
    }
    r = following;
  }
}

// Returns false when the peer was given up.
bool unacked_check(State& s, Peer& p, TimeNs& next) {
  Request* oldest = p.tx.unacked.front();
  if (!oldest) return true;
  const TimeNs limit = std::min(silence_limit(p, p.tx.unacked), silence_limit(p, p.tx.queued));
  if (s.now >= limit && asked_without_answer(s, p, *oldest)) {
    peer_cleanup(s, p, Cleanup::given_up);
    return false;
  }
  oldest->tx.sacked = false;  // the receiver misses this message
  const bool due = s.now >= resend_due(s, p, *oldest);
  // The answer to the oldest message tells what else is missing, so it goes alone. The first frame of a
  // message of several frames would show nothing.
  const bool alone = p.agreed.extended && oldest->resends == 0 && oldest->send_class != SendClass::medium;
  if (p.rails && due && !oldest->spreading()) [[unlikely]]
    rails_doubt_of(s, p, *oldest);
  if (due && !oldest->spreading() && p.tx.backoff < 16) p.tx.backoff++;
  const std::uint32_t most = alone || repetition_spread(*oldest) ? 1 : kResendBurst;
  std::uint32_t sent = 0;
  bool suspect = false;
  for (Request* r = oldest; r; r = p.tx.unacked.next(*r)) {
    const bool burst = due && !r->tx.sacked && (!p.agreed.extended || sent < most);
    if (!burst) {
      if (!r->tx.lost && (!r->spreading() || r->tx.sacked)) continue;
      const TimeNs lost_due = passed_due(s, *r);
      if (s.now < lost_due) {
        next = std::min(next, lost_due);
        continue;
      }
    }
    if (suspicious(*r)) {
      // Large frames are suspected only while small ones get through.
      if (p.liveness.last_heard > r->last_sent)
        suspect = true;
      else if (p.agreed.frame_max > s.config.base_frame)
        connect_ping(s, p);
    }
    sent++;
    send_retransmit(s, *r,
                    !burst  ? Counter::resend_sack
                    : alone ? Counter::resend_tail
                            : Counter::resend_timeout);
    if (r->spreading()) next = std::min(next, passed_due(s, *r));
  }
  if (suspect && p.agreed.frame_max > s.config.base_frame) probe_fall_back(s, p);
  next = std::min(next, resend_due(s, p, *oldest));
  next = std::min(next, std::max(limit, silent_at(s, p, *oldest)));
  return true;
}

// Pings a peer that connected to us until it knows our session, if a send waits for that (legacy.cc).
// Returns false when the peer was given up.
bool held_back_check(State& s, Peer& p, TimeNs& next) {
  if (!p.held_back() || p.tx.queued.empty() || !p.tx.connects.empty()) return true;
  const bool in_vain = p.liveness.ping_pending && s.now >= p.liveness.ping_due &&
                       s.now <= p.liveness.ping_due + s.config.reliability.resend_delay;
  if (in_vain && s.now >= silence_limit(p, p.tx.queued)) {
    peer_cleanup(s, p, Cleanup::given_up);
    return false;
  }
  if (s.now >= p.liveness.ping_due) legacy_connect_back(s, p);
  next = std::min(next, p.liveness.ping_due);
  return true;
}

TimeNs partial_timeout(const State& s, const Peer& p) {
  const Request* r = p.rx.partial->unexpected ? p.rx.partial->unexpected->claimed : p.rx.partial->request;
  return r ? r->timeout : s.default_timeout;
}

// Asks a silent peer that owes us something for a sign of life. This finds the end of a peer with nothing
// unacknowledged: finished rendezvous without NOTIFY, half a message (docs/spec/protocol.md 6 [TRAP]). It
// also finds a peer that gave us up long before our own limit.
void liveness_check(State& s, Peer& p, TimeNs& next) {
  // A pending connect has a limit of its own.
  watch_connect(s, p, next);
  const bool awaits = p.connected() && watched(s, p);
  TimeNs limit = silence_limit(p, p.tx.await_notify);
  TimeNs patience = awaits ? s.default_timeout : kNever;
  for (auto* list : {&p.tx.await_notify, &p.tx.unacked, &p.tx.queued, &p.rx.awaited})
    visit_first(*list, [&](Request& r) { patience = std::min(patience, r.timeout); });
  if (p.rx.partial) {
    limit = std::min(limit, time_add(p.liveness.last_heard, partial_timeout(s, p)));
    patience = std::min(patience, partial_timeout(s, p));
    // A live legacy peer may have given up the rest without telling us.
    if (!p.agreed.extended && s.now >= time_add(p.rx.partial->last, partial_timeout(s, p))) {
      peer_cleanup(s, p, Cleanup::given_up);
      return;
    }
  }
  if (p.tx.unacked.empty()) limit = std::min(limit, silence_limit(p, p.tx.queued));
  if (awaits) limit = std::min({limit, silence_limit(p, p.rx.awaited), probes_limit(s, p)});
  if (!p.rx.partial && p.tx.await_notify.empty() && p.tx.unacked.empty() && p.tx.queued.empty() && !awaits)
    return;
  // As in asked_without_answer(), the last ping was sent recently and had time to be answered, also by a peer
  // that has no processor for some milliseconds.
  const TimeNs interval = std::max(ping_interval(s, patience),
                                   std::min(time_to_answer(s, p), s.config.reliability.keepalive_delay));
  const bool in_vain = p.liveness.pings_unanswered >= kPingsBeforeGivingUp &&
                       s.now + interval / 2 >= p.liveness.ping_due &&
                       s.now <= time_add(p.liveness.ping_due, 2 * interval);
  if (s.now >= limit && in_vain) {
    peer_cleanup(s, p, Cleanup::given_up);
    return;
  }
  if (s.now >= p.liveness.last_heard + interval && s.now >= p.liveness.ping_due) {
    if (p.rails && p.liveness.pings_unanswered > 0) rails_doubt(s, p, p.liveness.ping_sent);
    connect_ping(s, p);
    if (p.liveness.pings_unanswered < 255) p.liveness.pings_unanswered++;
    p.liveness.ping_due = s.now + interval;
  }
  TimeNs again = std::max(p.liveness.ping_due, p.liveness.last_heard + interval);
  if (p.liveness.pings_unanswered >= kPingsBeforeGivingUp)
    again = std::min(again, std::max(limit, p.liveness.ping_due - interval / 2));
  next = std::min(next, std::max(again, s.now + kMillisecond / 4));
}

}  // namespace

void retransmit_timer(State& s, Peer& p) {
  TimeNs next = kNever;
  connects_check(s, p, next);
  news_silence_check(s, p, next);
  if (unacked_check(s, p, next) && held_back_check(s, p, next)) liveness_check(s, p, next);
  probe_tick(s, p);
  if (p.liveness.probe_size) next = std::min(next, p.liveness.probe_due);
  if (p.rails) {
    rails_tend(s, p);
    next = std::min(next, rails_due(s, p));
  }
  s.timers.arm_by(p.resend_timer, std::max(next, s.now + 1));
}

}  // namespace omx::protocol
