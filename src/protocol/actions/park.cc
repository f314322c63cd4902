// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/park.h"

#include <algorithm>
#include <cassert>

#include "base/buffer_pool.h"
#include "protocol/actions/completion.h"
#include "protocol/actions/large_tx.h"
#include "protocol/actions/send.h"
#include "protocol/counters.h"
#include "protocol/history.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/history_note.h"
#include "protocol/state/parked.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/send_memory.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

void park(State& s, Peer& p, Request& r) {
  assert(r.phase == Phase::unacked);
  if (s.completion.uncopied == &r) send_copy(s);
  if (!park_region(s, r)) return;  // no memory; the peer asks for the message again
  bulk_medium_done(s, p, r);
  park_copy(s, r);
  p.tx.frames_unacked -= r.tx.frames - 1U;
  r.tx.frames = 1;
  r.tx.by_bulk = r.tx.lost = r.tx.sacked = false;
  r.tx.spread = r.tx.spread_sent = 0;
  r.send_class = SendClass::large;
  r.tx.parked = true;
  if (r.resends < 0xFFFF) r.resends++;
  r.last_sent = s.now;
  s.count(Counter::send_parked)++;
  history_note(s, Happened::parked, &p, r.match_info, r.msg_length, r.seqnum);
  rndv_transmit(s, r);
  if (!r.tx.buffered || r.tx.delivered || r.user_done) return;
  r.xfer_length = r.msg_length;
  request_user_done(s, r, Status::success);
}

// Repeats a message that was sent behind one without room. It had probably no room either, as nothing is kept
// early then.
void send_behind(State& s, Request& r) {
  if (r.tx.sacked) return;
  if (r.resends < 0xFFFF) r.resends++;
  r.last_sent = s.now;
  r.tx.lost = false;
  s.count(Counter::resend_sack)++;
  if (r.kind == RequestKind::receive)
    notify_transmit(s, r);
  else
    rndv_transmit(s, r);
}

}  // namespace

void park_unacked(State& s, Peer& p) {
  if (!peer_reads_parked(p)) return;
  bool any = false;
  for (Request* r = p.tx.unacked.front(); r; r = p.tx.unacked.next(*r)) {
    if (seq_diff(r->seqnum, p.counting.next_acked) >= kParkRange) break;
    if (sent_eagerly(*r)) {
      park(s, p, *r);
      any = true;
    } else if (any) {
      send_behind(s, *r);
    }
  }
  if (!any) return;
  if (p.parking.park_left == 0)
    p.parking.park_next =
        std::clamp(static_cast<std::uint16_t>(p.parking.park_next * 2), kTrialFirst, kTrialMost);
  // Later messages that get one of the asked numbers must be envelopes as well.
  const std::uint32_t ahead = p.outstanding() < kParkRange ? kParkRange - p.outstanding() : 0;
  p.parking.park_left = static_cast<std::uint16_t>(std::max<std::uint32_t>(p.parking.park_next, ahead));
  send_pump(s, p);  // envelopes take less of the window
}

void park_waiting(State& s, Request& r) {
  assert(r.phase == Phase::await_notify);
  if (r.user_done) s.completion.buffered_sends--;
  r.tx.waits = true;
  // The peer has just shown that it lives, and nothing else was waited for.
  if (!r.user_done && r.tx.parked && r.tx.confirmed && send_buffer(s, r)) {
    send_from_buffer(s, r);
    r.xfer_length = r.msg_length;
    request_user_done(s, r, Status::success);
  }
  if (!r.user_done) s.room.awaiting++;
  s.room.parked_bytes += send_copy_bytes(r);
}

}  // namespace omx::protocol
