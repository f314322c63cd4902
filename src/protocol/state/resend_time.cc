// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/resend_time.h"

#include <algorithm>

#include "protocol/direct.h"
#include "protocol/state/eager_window.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

// A message by the bulk path comes later than packets that followed it by the link, and is not lost.
constexpr TimeNs kBulkLateness = 1 * kMillisecond;
// Repetitions are delayed while they do not help. The receiver then has no memory, and would answer each by a
// bitmap that asks for the next one.
constexpr TimeNs kAgainFirst = 1 * kMillisecond;
constexpr unsigned kAgainDoublings = 10;
// Repetitions of all fragments at once before they are spread, on a path of which nothing is known.
constexpr std::uint16_t kAtOnce = 2;
// The fragments of a repetition are spread over no more than this, or the time of an answer.
constexpr TimeNs kSpreadMost = 20 * kMillisecond;

// Returns the time in which the fragments of a repetition leave. At first it is a round trip, as if they were
// a window. It doubles with each repetition, until the queue has room for one after the other.
TimeNs spread_time(const State& s, const Request& r) {
  const Peer& p = *r.peer;
  const TimeNs first = p.tx.trip.known() ? p.tx.trip.smoothed() : answer_time(s, p);
  const unsigned doublings = std::min<unsigned>(r.tx.spreads - 1U, 30);
  const TimeNs most = std::max(answer_time(s, p), s.config.reliability.resend_delay_max);
  return peer_spread(s, p, std::min(first << doublings, most));
}

// Returns when the next fragment leaves. After the last one an answer has its time, too.
TimeNs spread_due(const State& s, const Request& r) {
  const TimeNs time = spread_time(s, r);
  const TimeNs all = std::min(time, std::max(answer_time(s, *r.peer), kSpreadMost));
  if (r.spreading()) return r.last_sent + all * r.tx.spread_sent / r.tx.spread;
  return r.last_sent + all + std::max(time, s.config.reliability.resend_delay_least);
}

}  // namespace

TimeNs passed_due(const State& s, const Request& r) {
  if (r.tx.spread > 0) return spread_due(s, r);
  const Peer& p = *r.peer;
  const TimeNs lateness = r.tx.by_bulk ? kBulkLateness : p.tx.trip.lateness();
  if (r.resends == 0) return r.tx.passed_at + lateness;
  return std::max(r.tx.passed_at + lateness,
                  r.last_sent + (kAgainFirst << std::min<unsigned>(r.resends - 1, kAgainDoublings)));
}

TimeNs answer_time(const State& s, const Peer& p) {
  if (!p.agreed.extended) return s.config.reliability.resend_delay;
  if (!p.tx.trip.known()) return s.config.reliability.resend_delay_extended;
  return std::max(s.config.reliability.resend_delay_least,
                  std::min(p.tx.trip.patience(), s.config.reliability.resend_delay_max));
}

TimeNs peer_rto(const State& s, const Peer& p) {
  const TimeNs base = answer_time(s, p);
  return peer_spread(s, p,
                     std::min(base << std::min<unsigned>(p.tx.backoff, 16),
                              std::max(base, s.config.reliability.resend_delay_max)));
}

TimeNs time_to_answer(const State& s, const Peer& p) {
  if (!p.agreed.extended) return s.config.reliability.resend_delay;
  const TimeNs most =
      std::max(s.config.reliability.resend_delay_max, s.config.reliability.resend_delay_least);
  return std::min(most, std::max(s.config.reliability.resend_delay_extended, p.tx.trip.patience()));
}

TimeNs peer_spread(const State& s, const Peer& p, TimeNs delay) {
  const std::uint64_t pair = (s.config.nic * 31 + s.config.endpoint) ^ (p.nic << 16) ^ p.endpoint;
  return delay + delay / 4 * ((pair * 0x9E3779B97F4A7C15ULL) >> 56) / 256;
}

bool peer_reads_later(const State& s, const Peer& p) {
  return p.agreed.intra_node_frame != 0 && s.config.direct && s.config.direct->unread(p.nic, p.endpoint);
}

TimeNs request_silent_since(const Peer& p, const Request& r) {
  if (!p.agreed.extended && (r.phase == Phase::unacked || p.held_back())) return r.first_sent;
  return std::max(p.liveness.last_heard, r.first_sent);
}

bool repetition_spread(const Request& r) {
  const Peer& p = *r.peer;
  return r.send_class == SendClass::medium && r.kind == RequestKind::send &&
         (r.resends >= kAtOnce || eager_overflows(p)) && p.agreed.extended && !p.inside_host();
}

TimeNs resend_due(const State& s, const Peer& p, const Request& oldest) {
  if (oldest.tx.spread > 0) return spread_due(s, oldest);
  return std::max(oldest.last_sent, p.tx.acked_at) + peer_rto(s, p);
}

TimeNs ping_interval(const State& s, TimeNs patience) {
  return std::max<TimeNs>(std::min(s.config.reliability.keepalive_delay, patience / 4), kMillisecond / 4);
}

TimeNs connect_delay(const State& s, const Request& r) {
  const TimeNs first =
      s.config.extension ? s.config.reliability.resend_delay_extended : s.config.reliability.resend_delay;
  return peer_spread(s, *r.peer,
                     std::min(first << std::min<unsigned>(r.resends, 16),
                              std::max(s.config.reliability.resend_delay, first)));
}

}  // namespace omx::protocol
