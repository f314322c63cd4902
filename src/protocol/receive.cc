// SPDX-License-Identifier: BSD-3-Clause
// Receives: posting, and what happens once a message is matched to one.
#include <algorithm>
#include <limits>

#include "protocol/state.h"

namespace omx::protocol {

void receive_matched(Request& r, Partner* p, std::uint32_t session, std::uint64_t match_info,
                     std::uint32_t msg_length, bool has_data, std::uint64_t data) {
  r.phase = Phase::matched;
  r.partner = p;
  r.session = session;
  r.match_info = match_info;
  r.msg_length = msg_length;
  r.xfer_length = static_cast<std::uint32_t>(std::min<std::uint64_t>(msg_length, r.segments.length()));
  r.has_data = has_data;
  r.data = data;
}

void receive_complete(State& s, Request& r) {
  s.count(Counter::messages_received)++;
  s.count(Counter::bytes_received) += r.xfer_length;
  request_finish(s, r, r.xfer_length < r.msg_length ? Status::truncated : Status::success);
}

void receive_rndv(State& s, Request& r, const wire::Rndv& rndv) {
  // The unexpected handler may have dropped the sender.
  if (r.partner->reply_session() == wire::kUnknownSession) {
    r.xfer_length = 0;
    return request_finish(s, r, Status::endpoint_unreachable);
  }
  r.region = rndv.rdma_id;
  r.region_generation = rndv.rdma_seqnum;
  if (r.xfer_length > 0) {
    pull_start(s, r, rndv);
    return;
  }
  s.count(Counter::messages_received)++;
  r.notify_length = 0;
  r.status = r.msg_length > 0 ? Status::truncated : Status::success;
  send_queue_notify(s, r);
}

namespace {

void claim(State& s, Request& r, Unexpected& u) {
  s.unexpected.remove(u);
  if (u.self_send) {
    self_match(s, r, u);
    return;
  }
  receive_matched(r, u.partner, u.session, u.match_info, u.msg_length, u.has_data, u.data);
  if (u.rendezvous) {
    wire::Rndv rndv;
    rndv.msg_length = u.msg_length;
    rndv.rdma_id = u.region;
    rndv.rdma_seqnum = u.region_generation;
    rndv.rdma_offset = u.region_offset;
    unexpected_free(s, u);
    receive_rndv(s, r, rndv);
  } else if (u.complete) {
    r.segments.write(0, u.buffer, r.xfer_length);
    unexpected_free(s, u);
    receive_complete(s, r);
  } else {
    u.claimed = &r;  // the last fragment will complete it
  }
}

}  // namespace

Expected<Request*, OpError> receive_start(State& s, const ReceiveOp& op) {
  if (op.segments.size() > kMaxSegments) return tl::make_unexpected(OpError::bad_segment_count);
  if (op.match_info & ~op.match_mask) return tl::make_unexpected(OpError::bad_match_mask);
  if (s.config.context_bits > 0) {
    const std::uint64_t field = ((std::uint64_t{1} << s.config.context_bits) - 1) << s.config.context_shift;
    if ((op.match_mask & field) != field) return tl::make_unexpected(OpError::context_id_mask);
  }
  Request* r = request_create(s, RequestKind::receive);
  if (!r) return tl::make_unexpected(OpError::no_resources);
  if (!r->segments.assign(op.segments, s.segment_lists)) {
    s.requests.destroy(r);
    return tl::make_unexpected(OpError::no_resources);
  }
  r->match_info = op.match_info;
  r->match_mask = op.match_mask;
  r->source = op.source;
  r->message_class = op.message_class;
  r->context = op.context;
  r->user_gone = op.forgotten;
  r->phase = Phase::posted;
  Request* const handle = op.forgotten ? nullptr : r;
  if (Unexpected* u = s.unexpected.find(op.match_info, op.match_mask, op.source, op.message_class))
    claim(s, *r, *u);
  else
    s.posted.add(*r);
  return handle;
}

}  // namespace omx::protocol
