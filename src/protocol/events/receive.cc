// SPDX-License-Identifier: BSD-3-Clause
// Posts receives, and matches them with messages that have arrived.
#include "protocol/events/receive.h"

#include "protocol/actions/completion.h"
#include "protocol/actions/receive_message.h"
#include "protocol/actions/watch.h"
#include "protocol/state/matching.h"
#include "protocol/state/multi_receives.h"
#include "protocol/state/request.h"
#include "protocol/state/requests.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

// Returns nullptr when there is no memory.
Request* receive_create(State& s, const ReceiveOp& op) {
  Request* r = request_create(s, RequestKind::receive);
  if (!r) return nullptr;
  r->match_info = op.match_info;
  r->rx.match_mask = op.match_mask;
  r->rx.source = op.source;
  r->session = op.session;
  r->rx.reach = op.reach;
  r->shunned = op.shunned;
  r->message_class = op.message_class;
  r->context = op.context;
  r->user_gone = op.forgotten;
  r->phase = Phase::posted;
  if (r->segments.assign(op.segments, s.memory.segment_lists) &&
      (op.multi_receive_least == 0 || multi_receive_begin(s, *r, op.multi_receive_least)))
    return r;
  r->segments.clear(s.memory.segment_lists);
  s.memory.requests.destroy(r);
  return nullptr;
}

Unexpected* waiting_for(State& s, const ReceiveOp& op) {
  return s.matching.unexpected.find(op.match_info, op.match_mask, op.source, op.session, op.message_class);
}

// Gives waiting messages to a multi-receive buffer. Returns false when the buffer is used up; `r` may be gone
// then.
bool multi_receive_start(State& s, Request& r, const ReceiveOp& op) {
  s.matching.posted.add(r);
  while (Unexpected* u = waiting_for(s, op)) {
    Request* one = multi_receive_take(s, r, u->msg_length);
    const bool last = r.rx.multi_receive->retired;
    s.matching.unexpected.remove(*u);
    message_receive(s, *one, *u);
    if (last) return false;
  }
  return true;
}

}  // namespace

Expected<Request*, OpError> receive_start(State& s, const ReceiveOp& op) {
  if (op.segments.size() > kMaxSegments) return tl::make_unexpected(OpError::bad_segment_count);
  if (op.match_info & ~op.match_mask) return tl::make_unexpected(OpError::bad_match_mask);
  if (s.config.context_bits > 0) {
    const std::uint64_t field = ((std::uint64_t{1} << s.config.context_bits) - 1) << s.config.context_shift;
    if ((op.match_mask & field) != field) return tl::make_unexpected(OpError::context_id_mask);
  }
  if (op.multi_receive_least > 0 &&
      (op.segments.size() != 1 || op.segments[0].length < op.multi_receive_least))
    return tl::make_unexpected(OpError::bad_segment_count);
  Request* r = receive_create(s, op);
  if (!r) return tl::make_unexpected(OpError::no_resources);
  Request* const handle = op.forgotten ? nullptr : r;
  if (op.multi_receive_least > 0) {
    if (!multi_receive_start(s, *r, op)) return handle;
    if (op.source_gone != Status::pending)
      multi_receive_end(s, *r, op.source_gone);
    else if (op.awaited)
      watch_receive(s, *r);
  } else if (Unexpected* u = waiting_for(s, op)) {
    s.matching.unexpected.remove(*u);
    message_receive(s, *r, *u);
  } else if (op.source_gone != Status::pending) {
    r->peer = s.peers.by_index[op.source->index];
    request_finish(s, *r, op.source_gone);
  } else {
    s.matching.posted.add(*r);
    if (op.awaited) watch_receive(s, *r);
  }
  return handle;
}

Expected<Request*, OpError> claimed_receive(State& s, Unexpected& u, const ReceiveOp& op) {
  if (op.segments.size() > kMaxSegments || op.multi_receive_least > 0)
    return tl::make_unexpected(OpError::bad_segment_count);
  Request* r = receive_create(s, op);
  if (!r) return tl::make_unexpected(OpError::no_resources);
  s.matching.claimed.remove(u);
  message_receive(s, *r, u);
  return op.forgotten ? nullptr : r;
}

bool claimed_discard(State& s, Unexpected& u) {
  Request* r = request_create(s, RequestKind::receive);
  if (!r) return false;
  r->user_gone = true;
  s.matching.claimed.remove(u);
  message_receive(s, *r, u);
  return true;
}

}  // namespace omx::protocol
