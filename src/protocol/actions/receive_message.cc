// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/receive_message.h"

#include <cassert>

#include "protocol/actions/completion.h"
#include "protocol/actions/pull_run.h"
#include "protocol/actions/self.h"
#include "protocol/actions/send.h"
#include "protocol/state/arrivals.h"
#include "protocol/state/matching.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

wire::Rndv announcement(const Unexpected& u) {
  wire::Rndv rndv;
  rndv.msg_length = u.msg_length;
  rndv.rdma_id = u.region;
  rndv.rdma_seqnum = u.region_generation;
  rndv.rdma_offset = u.region_offset;
  rndv.page = u.region_page;
  return rndv;
}

}  // namespace

void receive_rndv(State& s, Request& r, const wire::Rndv& rndv, const std::byte* tail) {
  assert(r.kind == RequestKind::receive);
  assert(r.phase == Phase::matched);
  // The unexpected handler may have dropped the sender.
  if (r.peer->reply_session() == wire::kUnknownSession) {
    r.xfer_length = 0;
    return request_finish(s, r, Status::endpoint_unreachable);
  }
  r.region = rndv.rdma_id;
  r.region_generation = rndv.rdma_seqnum;
  r.region_page = rndv.page;
  if (r.xfer_length > 0) {
    pull_start(s, r, rndv, tail);
    return;
  }
  receive_count(s, r);
  r.rx.notify_length = 0;
  r.status = r.msg_length > 0 ? Status::truncated : Status::success;
  send_queue_notify(s, r);
}

void message_receive(State& s, Request& r, Unexpected& u) {
  assert(r.kind == RequestKind::receive);
  assert(!r.user_done);
  if (u.self_send) return self_match(s, r, u);
  receive_matched(r, u.peer, u.session, u.match_info, u.msg_length, u.has_data, u.data);
  r.conversation = u.conversation;
  if (u.failed != Status::success) {
    const Status status = u.failed;
    unexpected_free(s, u);
    r.xfer_length = 0;
    return request_finish(s, r, status);
  }
  if (u.rendezvous) {
    const wire::Rndv rndv = announcement(u);
    const bool gone = u.conversation != u.peer->session.conversation || !u.peer->connected();
    unexpected_free(s, u);
    if (!gone) return receive_rndv(s, r, rndv, nullptr);
    r.xfer_length = 0;  // the sender that announced it is gone
    request_finish(s, r, Status::endpoint_unreachable);
  } else if (u.complete) {
    r.segments.write(0, u.buffer, r.xfer_length);
    unexpected_free(s, u);
    receive_complete(s, r);
  } else {
    u.claimed = &r;  // the last fragment will complete it
  }
}

}  // namespace omx::protocol
