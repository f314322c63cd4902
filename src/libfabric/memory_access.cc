// SPDX-License-Identifier: BSD-3-Clause
// Memory of peers, the side that asks: a request, for a long write its data behind it, and an answer that a
// receive waits for. All are messages like any others, so that they are ordered, repeated when lost, pulled
// when they are large, and copied once inside a host. The operation ends when its last part has ended.
#include <algorithm>

#include "libfabric/atomics.h"
#include "libfabric/endpoint.h"
#include "libfabric/info.h"
#include "libfabric/provider.h"
#include "libfabric/segments.h"

namespace omx::fabric {

// Whatever it is: the operation with its flags, counted, without parts. nullptr: not now, see `error`.
Operation* Endpoint::access_begin(Direct& direct, const AccessCall& call, std::uint64_t flags, int& error) {
  if (!send_allowed(direct)) return error = -FI_EAGAIN, nullptr;
  Operation* op = operation_new(OperationKind::access);
  if (!op) return error = -FI_ENOMEM, nullptr;
  op->context = call.context;
  op->has_context = call.has_context;
  op->wanted = call.has_context && wanted(transmit_queue_, transmit_selective_, call.flags);
  op->flags = flags;
  op->counted = true;
  sends_++;
  if (next_id_ == 0) next_id_ = std::uint64_t{endpoint_->session()} << 32;  // no id of an instance before us
  op->id = next_id_++;
  return op;
}

// A message of the operation; it has ended, with the rest of it, when this returns an error.
int Endpoint::access_part(Direct& direct, Operation& owner, fi_addr_t peer, std::vector<std::byte> own,
                          std::span<const protocol::Segment> segments, MessageClass message_class) {
  Operation* part = operation_new(OperationKind::access_part);
  if (!part) return -FI_ENOMEM;
  part->owner = &owner;
  part->own = std::move(own);
  const protocol::Segment whole{part->own.data(), static_cast<std::uint32_t>(part->own.size())};
  protocol::SendOp send;
  send.match_info = owner.id;
  send.message_class = message_class;
  const auto all = part->own.empty() ? segments : std::span<const protocol::Segment>(&whole, 1);
  const int error = dispatch(direct.engine(), direct.now(), peer, *part, all, send);
  if (error)
    operation_free(*part);
  else
    owner.parts++;
  return error;
}

// The receive that the answer comes to: its header, and the data behind it into the application's memory.
int Endpoint::access_await(Direct& direct, Operation& op, fi_addr_t peer,
                           std::span<const protocol::Segment> result) {
  const Peer* from = peer_of(direct.engine(), peer);
  if (!from) return no_peer(peer);
  op.own.resize(kAnswerHeader);
  op.result.assign({{op.own.data(), kAnswerHeader}});
  op.result.insert(op.result.end(), result.begin(), result.end());
  for (const protocol::Segment& s : result) op.bytes += s.length;
  op.parts = 1;
  // A connection that is made yet begins by ending what waits for an instance before.
  op.unposted = !(peer_ready(*from) && from->waiting.empty());
  return op.unposted ? 0 : access_post(direct.engine(), direct.now(), op, from->partner);
}

int Endpoint::access_post(Engine& engine, protocol::TimeNs now, Operation& op, protocol::Partner* from) {
  protocol::ReceiveOp receive;
  receive.segments = op.result;
  receive.match_info = op.id;
  receive.message_class = kClassAnswer;
  receive.source = from;
  receive.awaited = true;
  receive.context = &op;
  const auto request = engine.receive(now, receive);
  if (!request) return -FI_ENOMEM;
  op.request = *request;
  op.unposted = false;
  return 0;
}

// Nothing of it has left.
void Endpoint::access_undo(Direct& direct, Operation& op) {
  if (op.request) direct.engine().cancel(op.request);
  sends_--;
  operation_free(op);
}

int Endpoint::access_start(Direct& direct, Operation& op, fi_addr_t peer,
                           std::span<const protocol::Segment> result, std::vector<std::byte> request,
                           std::span<const protocol::Segment> data) {
  int error = access_await(direct, op, peer, result);
  if (!error) error = access_part(direct, op, peer, std::move(request), {}, kClassRequest);
  if (error) {
    access_undo(direct, op);
    return error;
  }
  if (data.empty()) return 0;
  error = access_part(direct, op, peer, {}, data, kClassData);
  // Without its data the peer never answers.
  if (error) access_part_ended(direct.engine(), op, -error);
  return 0;
}

void Endpoint::access_part_ended(Engine& engine, Operation& op, int error) {
  if (error && !op.error) {
    op.error = error;
    // Nobody will answer. If the answer is on its way after all, it ends the operation as it comes.
    if (op.request) engine.cancel(op.request, true);
    if (op.unposted) op.parts--;
    op.unposted = false;
  }
}

void Endpoint::access_finish(Engine& engine, Operation& op, const protocol::Completion& c) {
  Operation& owner = op.owner ? *op.owner : op;
  // What the peer took of a write's data is told by its answer.
  const bool fine = c.status == protocol::Status::success || c.status == protocol::Status::truncated;
  int error = fine ? 0 : error_of(c.status);
  if (!op.owner) {
    op.request = nullptr;
    if (!error) error = c.xfer_length < kAnswerHeader ? FI_EIO : answer_error(op.own.data());
    // A success comes with all the data that were asked for.
    if (!error && c.msg_length != kAnswerHeader + op.bytes) error = FI_EIO;
  }
  access_part_ended(engine, owner, error);
  if (op.owner) operation_free(op);
  if (--owner.parts > 0) return;
  sends_--;
  report(owner, owner.error, -owner.error);
  operation_free(owner);
}

ssize_t Endpoint::access(const RmaCall& call) {
  if (const int error = unusable()) return error;
  Segments segments;
  if (const int error = segments.assign(call.pieces)) return error;
  if (call.remote.size() > kPiecesMost || call.remote.empty()) return -FI_EINVAL;
  if (!(caps_ & FI_RMA)) return -FI_EOPNOTSUPP;
  const bool inject = call.flags & FI_INJECT;
  if (inject && segments.length() > kInjectMost) return -FI_EMSGSIZE;

  MemoryRequest request;
  request.kind = call.write ? MemoryKind::write : MemoryKind::read;
  request.has_data = call.flags & FI_REMOTE_CQ_DATA;
  request.data = call.data;
  request.bytes = segments.length();
  request.separate = call.write && segments.length() > kRmaInlineMost;
  std::uint64_t left = request.bytes;
  for (const fi_rma_iov& piece : call.remote) {
    const std::uint64_t some = std::min<std::uint64_t>(piece.len, left);
    request.piece[request.pieces++] = {piece.addr, some, piece.key};
    left -= some;
  }
  if (left > 0) return -FI_EINVAL;  // more than the remote pieces hold

  Direct direct(*endpoint_);
  int error = 0;
  Operation* op = access_begin(direct, call, FI_RMA | (call.write ? FI_WRITE : FI_READ), error);
  if (!op) return error;
  request.id = op->id;
  const bool short_write = call.write && !request.separate;
  std::vector<std::byte> message = request_encode(request, short_write ? segments.length() : 0);
  if (short_write)
    for (const protocol::Segment& s : segments.span())
      message.insert(message.end(), s.base, s.base + s.length);
  return access_start(direct, *op, call.peer,
                      call.write ? std::span<const protocol::Segment>() : segments.span(), std::move(message),
                      request.separate ? segments.span() : std::span<const protocol::Segment>());
}

ssize_t Endpoint::access(const AtomicCall& call) {
  if (const int error = unusable()) return error;
  if (!(caps_ & FI_ATOMIC) || !atomic_supported(call.form, call.datatype, call.operation))
    return -FI_EOPNOTSUPP;
  const std::size_t size = datatype_size(call.datatype);
  MemoryRequest request;
  request.kind = MemoryKind::atomic;
  request.form = call.form;
  request.datatype = static_cast<std::uint8_t>(call.datatype);
  request.operation = static_cast<std::uint8_t>(call.operation);
  if (call.remote.size() > kPiecesMost || call.remote.empty()) return -FI_EINVAL;
  for (const fi_rma_ioc& piece : call.remote) {
    if (piece.count > kAtomicBytesMost) return -FI_EMSGSIZE;
    request.piece[request.pieces++] = {piece.addr, piece.count * size, piece.key};
    request.bytes += piece.count * size;
  }
  if (request.bytes > kAtomicBytesMost) return -FI_EMSGSIZE;
  if (request.bytes == 0) return -FI_EINVAL;

  Direct direct(*endpoint_);
  Segments result;
  if (const int error = result.assign(call.result, size)) return error;
  if (call.form != AtomicForm::plain && result.length() < request.bytes) return -FI_EINVAL;
  int error = 0;
  const std::uint64_t direction = call.form == AtomicForm::plain ? FI_WRITE : FI_READ;
  Operation* op = access_begin(direct, call, FI_ATOMIC | direction, error);
  if (!op) return error;
  request.id = op->id;
  std::vector<std::byte> message = request_encode(request, 2 * request.bytes);
  bool whole = true;
  if (call.operation != FI_ATOMIC_READ) whole = operands_append(message, call.operands, size, request.bytes);
  if (call.form == AtomicForm::compare)
    whole = operands_append(message, call.compare, size, request.bytes) && whole;
  if (!whole) {  // fewer values than the remote pieces hold
    access_undo(direct, *op);
    return -FI_EINVAL;
  }
  return access_start(direct, *op, call.peer, result.span(), std::move(message), {});
}

}  // namespace omx::fabric
