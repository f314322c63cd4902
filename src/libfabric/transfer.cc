// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives.
#include <algorithm>
#include <array>

#include "libfabric/endpoint.h"
#include "libfabric/info.h"
#include "libfabric/provider.h"
#include "libfabric/segments.h"

namespace omx::fabric {

Operation* Endpoint::operation_new(OperationKind kind) {
  Operation* op = operations_.create();
  if (!op) return nullptr;
  op->kind = kind;
  all_.push_back(*op);
  return op;
}

void Endpoint::operation_free(Operation& op) {
  op.all.unlink();
  op.hook.unlink();
  operations_.destroy(&op);
}

bool Endpoint::wanted(const CompletionQueue* queue, bool selective, std::uint64_t flags) const {
  return queue && (!selective || (flags & FI_COMPLETION));
}

bool Endpoint::send_allowed(Direct& direct) {
  if (sends_ < transmit_size_) [[likely]]
    return true;
  direct.turn();
  // Sends that wait only for receives do not count: the peer decides in which order it posts them.
  const std::size_t waiting = direct.engine().awaiting_receives();
  return sends_ < transmit_size_ + waiting;
}

ssize_t Endpoint::send(const SendCall& call) {
  if (const int error = unusable()) return error;
  Segments segments;
  if (const int error = segments.assign(call.pieces)) return error;
  const bool inject = call.flags & FI_INJECT;
  if (inject && segments.length() > kInjectMost) return -FI_EMSGSIZE;

  Direct direct(*endpoint_);
  if (!send_allowed(direct)) return -FI_EAGAIN;
  Operation* op = operation_new(OperationKind::send);
  if (!op) return -FI_ENOMEM;
  op->context = call.context;
  op->has_context = call.has_context;
  op->wanted = call.has_context && wanted(transmit_queue_, transmit_selective_, call.flags);
  op->flags = FI_SEND | kind_flag(call.message_class);
  op->tag = call.tag;
  op->counted = true;
  protocol::SendOp send;
  send.match_info = call.tag;
  send.message_class = call.message_class;
  send.has_data = call.flags & FI_REMOTE_CQ_DATA;
  send.data = call.data;
  send.inject = inject;
  send.hold = direct.burst_goes_on();
  send.hold_announcement = direct.may_hold();
  send.delivered = call.flags & (FI_DELIVERY_COMPLETE | FI_TRANSMIT_COMPLETE);
  send.confirmed = op->wanted && !inject;
  ssize_t result = 0;
  const std::uint64_t refusals = refusals_;
  sends_++;  // until it is reported
  if (!send_self(direct, *op, call.to, segments.span(), segments.length(), send, result))
    result = dispatch(direct.engine(), direct.now(), call.to, *op, segments.span(), send);
  if (result == -FI_EAGAIN) {
    // Acknowledgements may be waiting, and nobody else looks for them while the application calls.
    direct.turn();
    result = dispatch(direct.engine(), direct.now(), call.to, *op, segments.span(), send);
  }
  if (result) {
    sends_--;
    operation_free(*op);
    return result;
  }
  if (refusals_ != refusals) direct.signal();
  direct.sent();
  return 0;
}

// A short message to oneself is complete at once: who sends it may go on to receive it (libfabric.md 6.6).
bool Endpoint::send_self(Direct& direct, Operation& op, fi_addr_t to,
                         std::span<const protocol::Segment> segments, std::size_t length,
                         protocol::SendOp send, ssize_t& result) {
  Engine& engine = direct.engine();
  if (length > kInjectMost || send.delivered) return false;
  Peer* peer = peer_of(engine, to);
  if (!peer || peer->partner != engine.self()) return false;
  send.partner = peer->partner;
  send.segments = segments;
  send.inject = true;
  send.forgotten = true;
  const auto sent = engine.send(direct.now(), send);
  result = sent ? 0 : -FI_EAGAIN;
  if (!sent) return true;
  sends_--;
  report(op, 0, 0);
  direct.signal();
  operation_free(op);
  return true;
}

int Endpoint::receive_source(Engine& engine, fi_addr_t from, protocol::ReceiveOp& receive) {
  if (from == FI_ADDR_UNSPEC || !(caps_ & FI_DIRECTED_RECV)) return 0;
  const Peer* peer = peer_of(engine, from);
  if (!peer) return no_peer(from);
  receive.source = peer->partner;
  receive.session = peer->session;
  receive.awaited = true;
  // An address with a session is of an instance that was there. Of others the peer may come later.
  receive.shunned = peer_shunned(*peer);
  receive.reach = peer->session != kAnySession || receive.shunned != kAnySession;
  receive.source_gone = peer_over(*peer);
  return 0;
}

ssize_t Endpoint::receive(const ReceiveCall& call) {
  if (const int error = unusable()) return error;
  Segments segments;
  if (const int error = segments.assign(call.pieces)) return error;
  Direct direct(*endpoint_);
  protocol::ReceiveOp receive;
  if (const int error = receive_source(direct.engine(), call.from, receive)) return error;
  Operation* op = operation_new(OperationKind::receive);
  if (!op) return -FI_ENOMEM;
  op->context = call.context;
  op->wanted = wanted(receive_queue_, receive_selective_, call.flags);
  op->flags = FI_RECV | kind_flag(call.message_class);
  op->tag = call.tag;
  op->several = (call.flags & FI_MULTI_RECV) && segments.length() > 0;
  op->memory = segments.span().empty() ? nullptr : segments.span().front().base;
  receive.segments = segments.span();
  receive.match_info = call.tag & ~call.ignore;
  receive.match_mask = ~call.ignore;
  receive.message_class = call.message_class;
  receive.context = op;
  if (op->several) receive.multi_least = static_cast<std::uint32_t>(std::min(least_, segments.length()));
  const bool timeless = direct.engine().unexpected_empty() && !receive.source;
  const protocol::TimeNs now = timeless ? 0 : direct.now();
  const auto request = direct.engine().receive(now, receive);
  if (!request) {
    operation_free(*op);
    return request.error() == protocol::OpError::no_resources ? -FI_ENOMEM : -FI_EINVAL;
  }
  op->request = *request;
  receives_.push_back(*op);
  return 0;
}

ssize_t Endpoint::cancel(void* context) {
  if (const int error = unusable()) return error;
  Direct direct(*endpoint_);
  for (Operation* op = receives_.front(); op; op = receives_.next(*op)) {
    if (op->context != context) continue;
    const auto cancelled = direct.engine().cancel(op->request, true);
    if (cancelled && *cancelled) return 0;
  }
  return -FI_ENOENT;  // unknown, or matched already: then it completes as ever
}

}  // namespace omx::fabric
