// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/send_end.h"

#include <cassert>

#include "protocol/actions/completion.h"
#include "protocol/actions/park.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/parked.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/send_memory.h"
#include "protocol/state/state.h"

namespace omx::protocol {

void send_acknowledged(State& s, Request& r) {
  assert(r.phase == Phase::unacked);
  Peer& p = *r.peer;
  p.tx.frames_unacked -= r.tx.frames;
  bulk_medium_done(s, p, r);
  if (r.kind == RequestKind::receive) {  // its NOTIFY
    request_protocol_done(s, r);
    return;
  }
  if (r.send_class == SendClass::large) {
    if (r.tx.notified) {
      request_finish(s, r, r.xfer_length < r.msg_length ? Status::truncated : Status::success);
    } else {
      r.phase = Phase::await_notify;
      p.tx.await_notify.push_back(r);
      park_waiting(s, r);
    }
    return;
  }
  if (p.parking.park_next > 0) [[unlikely]]
    park_taken(p);
  r.xfer_length = r.msg_length;
  request_finish(s, r, Status::success);
}

void send_fail(State& s, Request& r, Status status) {
  if (!r.user_done) {
    if (r.user_gone)
      s.reports.ending_lost++;
    else
      s.reports.ending_failed++;
    request_finish(s, r, status);
    return;
  }
  if (!r.user_gone) {  // the user has not seen a success yet
    r.status = status;
    r.xfer_length = 0;
    s.reports.ending_failed++;
    request_protocol_done(s, r);
    return;
  }
  s.reports.ending_lost++;
  if (s.closing) return request_protocol_done(s, r);
  r.status = status;
  send_release_buffer(s, r);
  if (!r.tx.waits) s.completion.buffered_sends--;  // sends that wait for their receive are not counted
  r.phase = Phase::finished;
  s.completion.lost.push_back(r);
}

}  // namespace omx::protocol
