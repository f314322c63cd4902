// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/transfers.h"

#include <algorithm>
#include <cassert>

#include "libfabric/capabilities.h"
#include "libfabric/fence.h"
#include "libfabric/segments.h"

namespace omx::fabric {

using Engine = protocol::Endpoint;

ssize_t Transfers::send(const SendCall& call) noexcept try {
  if (const int error = endpoint_.unusable()) return error;
  Segments segments;
  if (const int error = segments.assign(call.pieces)) return error;
  if ((call.flags & FI_INJECT) && segments.length() > kInjectMost) return -FI_EMSGSIZE;
  runtime::EngineAccess direct(endpoint_.runtime_endpoint());
  if (!endpoint_.send_allowed(direct)) return -FI_EAGAIN;
  return send_new(direct, call, segments.span(), segments.length());
} catch (...) {
  return failure_code();
}

ssize_t Transfers::send_new(runtime::EngineAccess& direct, const SendCall& call,
                            std::span<const protocol::Segment> segments, std::size_t length) {
  Operation* op = endpoint_.operation_new(OperationKind::send);
  if (!op) return -FI_ENOMEM;
  const bool inject = call.flags & FI_INJECT;
  op->context = call.context;
  op->has_context = call.has_context;
  op->wanted = call.has_context && Endpoint::wanted(endpoint_.bindings.transmit(), call.flags);
  op->flags = FI_SEND | kind_flag(call.message_class);
  op->tag = call.tag;
  op->counted = true;
  protocol::SendOp send;
  send.match_info = call.tag;
  send.message_class = call.message_class;
  send.has_data = call.flags & FI_REMOTE_CQ_DATA;
  send.data = call.data;
  send.inject = inject;
  send.advice.hold = direct.burst_goes_on(call.to);
  send.advice.hold_announcement = direct.may_hold();
  send.delivered = call.flags & (FI_DELIVERY_COMPLETE | FI_TRANSMIT_COMPLETE);
  send.confirmed = op->wanted && !inject;
  ssize_t result = 0;
  const std::uint64_t refusals = peers_.refusals();
  endpoint_.send_begun();
  if (!send_self(direct, *op, call.to, segments, length, send, result))
    result = peers_.dispatch(direct.engine(), direct.now(), call.to, *op, segments, send);
  if (result == -FI_EAGAIN) {
    // Acknowledgements may be waiting, and no other thread polls for them while the application calls.
    direct.turn();
    result = peers_.dispatch(direct.engine(), direct.now(), call.to, *op, segments, send);
  }
  if (result) {
    endpoint_.send_ended();
    endpoint_.operation_free(*op);
    return result;
  }
  if (peers_.refusals() != refusals) direct.signal();
  direct.sent();
  return 0;
}

// Sends to the own endpoint. A short message to oneself is complete at once, because its sender may go on to
// receive it (docs/spec/libfabric.md 6.6). Returns false if the message goes to another endpoint, or is too
// long.
bool Transfers::send_self(runtime::EngineAccess& direct, Operation& op, fi_addr_t to,
                          std::span<const protocol::Segment> segments, std::size_t length,
                          protocol::SendOp send, ssize_t& result) {
  Engine& engine = direct.engine();
  if (length > kInjectMost || send.delivered) return false;
  Peers::Destination* destination = peers_.find(engine, to);
  if (!destination || destination->peer != engine.self()) return false;
  send.peer = destination->peer;
  send.segments = segments;
  send.inject = true;
  send.forgotten = true;
  const auto sent = engine.send(direct.now(), send);
  result = sent ? 0 : -FI_EAGAIN;
  if (!sent) return true;
  endpoint_.send_ended();
  reports_.sent(op, 0, 0);
  direct.signal();
  endpoint_.operation_free(op);
  return true;
}

int Transfers::source_set(Engine& engine, fi_addr_t from, protocol::ReceiveOp& receive) {
  if (from == FI_ADDR_UNSPEC || !(endpoint_.choices.caps & FI_DIRECTED_RECV)) return 0;
  const Peers::Destination* source = peers_.find(engine, from);
  if (!source) return peers_.why_none(from);
  receive.source = source->peer;
  receive.session = source->session;
  receive.awaited = true;
  // An address with a session is of an incarnation that was there. Peers of other addresses may come later.
  receive.shunned = peers_.shunned(*source);
  receive.reach = source->session != kAnySession || receive.shunned != kAnySession;
  receive.source_gone = peers_.over(*source);
  return 0;
}

ssize_t Transfers::receive(const ReceiveCall& call) noexcept try {
  if (const int error = endpoint_.unusable()) return error;
  Segments segments;
  if (const int error = segments.assign(call.pieces)) return error;
  runtime::EngineAccess direct(endpoint_.runtime_endpoint());
  protocol::ReceiveOp receive;
  if (const int error = source_set(direct.engine(), call.from, receive)) return error;
  Operation* op = endpoint_.operation_new(OperationKind::receive);
  if (!op) return -FI_ENOMEM;
  op->context = call.context;
  op->wanted = Endpoint::wanted(endpoint_.bindings.receive(), call.flags);
  op->flags = FI_RECV | kind_flag(call.message_class);
  op->tag = call.tag;
  op->several = (call.flags & FI_MULTI_RECV) && segments.length() > 0;
  op->memory = segments.span().empty() ? nullptr : segments.span().front().base;
  receive.segments = segments.span();
  receive.match_info = call.tag & ~call.ignore;
  receive.match_mask = ~call.ignore;
  receive.message_class = call.message_class;
  receive.context = op;
  if (op->several)
    receive.multi_receive_least =
        static_cast<std::uint32_t>(std::min(endpoint_.choices.multi_receive_least, segments.length()));
  // The clock is read only if the engine needs the time.
  const bool timeless = direct.engine().unexpected_empty() && !receive.source;
  const protocol::TimeNs now = timeless ? 0 : direct.now();
  const auto request = direct.engine().receive(now, receive);
  if (!request) {
    endpoint_.operation_free(*op);
    return request.error() == protocol::OpError::no_resources ? -FI_ENOMEM : -FI_EINVAL;
  }
  op->request = *request;
  posted(*op);
  return 0;
} catch (...) {
  return failure_code();
}

ssize_t Transfers::cancel(void* context) noexcept try {
  if (const int error = endpoint_.unusable()) return error;
  runtime::EngineAccess direct(endpoint_.runtime_endpoint());
  for (Operation* op = receives_.front(); op; op = receives_.next(*op)) {
    assert(op->kind == OperationKind::receive);
    if (op->context != context) continue;
    const auto cancelled = direct.engine().cancel(op->request, true);
    if (cancelled && *cancelled) return 0;
  }
  return -FI_ENOENT;
} catch (...) {
  return failure_code();
}

}  // namespace omx::fabric
