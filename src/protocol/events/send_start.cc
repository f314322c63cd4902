// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/send_start.h"

#include <limits>

#include "protocol/actions/coalesce.h"
#include "protocol/actions/completion.h"
#include "protocol/actions/probe.h"
#include "protocol/actions/self.h"
#include "protocol/actions/send.h"
#include "protocol/counters.h"
#include "protocol/events/lone_send.h"
#include "protocol/state/heard_lately.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/requests.h"
#include "protocol/state/send_count.h"
#include "protocol/state/send_memory.h"
#include "protocol/state/state.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// Sends any message.
Expected<Request*, OpError> send_any(State& s, const SendOp& op) {
  if (op.segments.size() > kMaxSegments) return tl::make_unexpected(OpError::bad_segment_count);
  std::uint64_t length = 0;
  for (const Segment& seg : op.segments) length += seg.length;
  if (!op.peer || length > std::numeric_limits<std::uint32_t>::max())
    return tl::make_unexpected(OpError::bad_request);
  Request* r = request_create(s, RequestKind::send);
  if (!r) return tl::make_unexpected(OpError::no_resources);
  if (!r->segments.assign(op.segments, s.memory.segment_lists)) {
    s.memory.requests.destroy(r);
    return tl::make_unexpected(OpError::no_resources);
  }
  Peer& p = *op.peer;
  r->peer = &p;
  r->session = op.session;
  r->match_info = op.match_info;
  r->context = op.context;
  r->tx.synchronous = op.synchronous;
  r->user_gone = op.forgotten;
  r->message_class = op.message_class;
  r->tx.copy_later = op.advice.copy_later && !op.forgotten;
  r->has_data = op.has_data;
  r->data = op.data;
  r->msg_length = static_cast<std::uint32_t>(length);
  // A peer that was silent for a second may be gone, so a send to it completes only when acknowledged.
  r->tx.confirmed = op.confirmed && !op.delivered && !heard_lately(s, p);
  r->tx.delivered = op.delivered || r->tx.confirmed;
  if (op.inject && !send_inject(s, *r)) {
    r->segments.clear(s.memory.segment_lists);
    s.memory.requests.destroy(r);
    return tl::make_unexpected(OpError::no_resources);
  }
  Request* const handle = op.forgotten ? nullptr : r;
  send_count(s, p, length);
  if (p.self) {
    self_send(s, *r);
    return handle;
  }
  // The address belongs to an instance that is gone or was given up.
  r->conversation = p.session.conversation;
  const bool other = op.session != wire::kUnknownSession && op.session != p.session.true_session;
  const bool over = op.conversation != 0 && op.conversation != p.session.conversation;
  if (!p.connected() || other || over) {
    request_finish(s, *r, p.connected() && other ? Status::bad_session : p.session.gone);
    return handle;
  }
  if (r->needs_ext() && !p.carries_ext()) {
    request_finish(s, *r, Status::rejected);
    return handle;
  }
  probe_at_message(s, p, r->msg_length);
  r->session = p.session.true_session;
  r->phase = Phase::queued;
  r->first_sent = s.now;
  p.tx.queued.push_back(*r);
  {
    const MayCoalesce may(s, op.advice.hold, op.advice.hold_announcement);
    send_pump(s, p, !op.advice.hold);
  }
  if (r->phase == Phase::queued) s.count(Counter::throttled)++;
  return handle;
}

}  // namespace

Expected<Request*, OpError> send_start(State& s, const SendOp& op) {
  if (Request* const r = lone_send(s, op)) return op.forgotten ? nullptr : r;
  return send_any(s, op);
}

}  // namespace omx::protocol
