// SPDX-License-Identifier: BSD-3-Clause
// Acknowledgements in both directions (docs/spec/protocol.md 5). Between extended peers TRUC carries a bitmap
// of the messages that arrived early, so that only missing messages are sent again.
#include "protocol/events/ack.h"

#include <algorithm>

#include "protocol/actions/completion.h"
#include "protocol/actions/connect_tx.h"
#include "protocol/actions/park.h"
#include "protocol/actions/resend_timer.h"
#include "protocol/actions/send.h"
#include "protocol/actions/send_end.h"
#include "protocol/actions/send_tx.h"
#include "protocol/counters.h"
#include "protocol/events/received.h"
#include "protocol/state/eager_window.h"
#include "protocol/state/news.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/request.h"
#include "protocol/state/resend_time.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

// Returns whether an acknowledgement answers the first transmission. One that follows a repetition sooner
// than any answer can arrive must answer an earlier copy.
bool first_one_came(const State& s, const Peer& p, const Request& r) {
  return r.resends == 0 || s.now - r.last_sent < p.tx.trip.least() / 2;
}

// Measures how long an acknowledgement took. The message was not repeated and waited behind none that was.
void trip_measure(State& s, Peer& p, const Request& r) {
  const TimeNs doubled = p.tx.trip.patience() << std::min<unsigned>(p.tx.backoff, 16);
  p.tx.trip.measured(
      s.now, std::min(s.now - r.last_sent, std::max(s.config.reliability.resend_delay_extended, doubled)));
}

// Measures the acknowledgement of the oldest message, which was repeated. If it follows the repetition as
// closely as answers do, it probably answers the repetition. Otherwise the peer became slow, has no room, or
// is farther away. A ping tells which.
void trip_measure_repeated(State& s, Peer& p, const Request& r) {
  const bool at_once = r.tx.spread == 0;  // else any fragment may have been the last
  if (at_once && !p.tx.trip.answers(s.now - r.last_sent, s.config.reliability.ack_delay_extended))
    p.tx.trip.waited(std::min(s.now - r.first_sent, s.config.reliability.resend_delay_extended));
  trip_ask(s, p);
}

// Measures how late a message arrived that messages with later numbers overtook. After several repetitions it
// is unknown which copy arrived, so such a message is not measured.
void lateness_measure(State& s, Peer& p, const Request& r) {
  if (r.tx.passed_at != 0 && !r.tx.by_bulk && r.resends <= 1 && first_one_came(s, p, r))
    p.tx.trip.overtaken(s.now, s.now - r.tx.passed_at);
}

// Returns whether the message is a short one that was sent once, and nothing follows from its end.
bool ends_simply(const Peer& p, const Request& r) {
  return r.seqnum == p.counting.next_acked && r.resends == 0 && r.tx.passed_at == 0 &&
         r.send_class <= SendClass::small && p.tx.backoff == 0 && p.tx.queued.empty() && !p.tx.eager &&
         p.parking.park_next == 0;
}

// Ends the oldest message, as ack_apply() does with any.
void ack_oldest(State& s, Peer& p, Request& r) {
  p.counting.next_acked = seq_add(p.counting.next_acked, 1);
  p.counting.acked_since_asked++;
  p.tx.acked_at = s.now;
  r.queue.unlink();
  trip_measure(s, p, r);
  p.tx.frames_unacked -= r.tx.frames;
  r.xfer_length = r.msg_length;
  request_finish(s, r, Status::success);
}

}  // namespace

void ack_apply(State& s, Peer& p, Seqnum ack) {
  const std::uint32_t acked = seq_diff(ack, p.counting.next_acked);
  if (acked == 1) {
    Request* const oldest = p.tx.unacked.front();
    if (oldest && ends_simply(p, *oldest)) return ack_oldest(s, p, *oldest);
  }
  // The peer acknowledges more than we sent: the two ends no longer count alike. Its answer to a connect
  // tells.
  if (acked > p.outstanding() && acked < kSeqSpace / 2) connect_ask(s, p);
  if (acked == 0 || acked > p.outstanding()) return;
  p.counting.next_acked = ack;
  p.counting.acked_since_asked += acked;
  const bool backed_off = p.tx.backoff > 0;
  p.tx.acked_at = s.now;
  bool repeated = false;
  for (std::uint32_t i = 0; i < acked; i++) {
    Request* r = p.tx.unacked.pop_front();
    if (!r) break;
    // A message refused by a nack left its number without a request.
    if (seq_diff(r->seqnum, ack) < kSeqSpace / 2) {
      p.tx.unacked.push_front(*r);
      break;
    }
    repeated |= r->resends > 0;
    if (repeated && i == 0)
      trip_measure_repeated(s, p, *r);
    else if (!repeated && i + 1 == acked)
      trip_measure(s, p, *r);
    lateness_measure(s, p, *r);
    if (p.tx.eager) [[unlikely]]
      eager_acked(s, p, *r, !repeated && i + 1 == acked);
    send_acknowledged(s, *r);
  }
  p.tx.backoff = 0;
  if (!p.tx.queued.empty()) send_pump(s, p);
  if (backed_off) retransmit_arm(s, p);  // the timer may still be set to the longer delay
}

namespace {

void sack_apply(State& s, Peer& p, const wire::Truc& packet) {
  std::uint32_t highest = 0;  // distance from packet.seqnum of the highest number that arrived early
  TimeNs newest = 0;          // when the newest message that arrived early was sent
  for (Request* r = p.tx.unacked.front(); r; r = p.tx.unacked.next(*r)) {
    const std::uint32_t i = seq_diff(r->seqnum, packet.seqnum) - 1;
    if (seq_diff(r->seqnum, packet.seqnum) == 0 || i >= 256) continue;
    // A bit can be cleared again: the peer kept the message early and then ran out of memory.
    const bool there = packet.sack[i / 8] & (1U << (i % 8));
    if (there && !r->tx.sacked) lateness_measure(s, p, *r);
    r->tx.sacked = there;
    if (!there) continue;
    highest = i + 1;
    newest = std::max(newest, first_one_came(s, p, *r) ? r->first_sent : r->last_sent);
  }
  p.tx.sacks = highest > 0;
  if (highest == 0) return;
  TimeNs next = kNever;
  for (Request* r = p.tx.unacked.front(); r; r = p.tx.unacked.next(*r)) {
    if (seq_diff(r->seqnum, packet.seqnum) > highest) break;
    // A repetition counts as missing only if a message sent after it has arrived.
    if (r->tx.sacked || r->spreading() || (r->resends > 0 && r->last_sent >= newest)) continue;
    if (!r->tx.lost) r->tx.passed_at = s.now;
    r->tx.lost = true;
    if (s.now >= passed_due(s, *r)) send_retransmit(s, *r, Counter::resend_sack);
    if (r->tx.lost || r->spreading()) next = std::min(next, passed_due(s, *r));
  }
  s.timers.arm_by(p.resend_timer, next);
}

}  // namespace

void ack_received(State& s, const wire::Head& head, wire::Frame frame) {
  Peer* p = peer_find(s, head.src, load_src_endpoint(frame));
  if (!p) {
    s.count(Counter::drop_unknown_peer)++;
    return;
  }
  if (!rx_checksum_ok(s, p, frame)) return;
  wire::Truc packet;
  if (const auto drop = wire::decode_truc(frame, p->agreed.extended, packet); drop != wire::Drop::none)
    return rx_drop(s, drop);
  if (packet.session != s.config.session) {
    s.count(Counter::drop_bad_session)++;
    return;
  }
  s.count(Counter::recv_lib_ack)++;
  peer_heard(s, *p);
  // The counter may wrap (docs/spec/protocol.md 5.2 [TRAP]), so it is compared by distance.
  const auto ahead = static_cast<std::int32_t>(packet.acknum - p->counting.recv_acknum);
  if (!seq_same_session(packet.seqnum, p->counting.next_send) || ahead <= 0) {
    s.count(Counter::drop_bad_seqnum)++;
    if (ahead > 0) generations_doubt(s, *p);
    return;
  }
  p->counting.recv_acknum = packet.acknum;
  ack_apply(s, *p, packet.seqnum);
  if (packet.flags & wire::kFlagMarked) [[unlikely]]
    eager_marked(s, *p);
  if ((packet.flags & wire::kFlagPark) && packet.seqnum == p->counting.next_acked) park_unacked(s, *p);
  if ((packet.has_sack || p->tx.sacks) && packet.seqnum == p->counting.next_acked) sack_apply(s, *p, packet);
}

}  // namespace omx::protocol
