// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/remote_memory.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "libfabric/access_call.h"
#include "libfabric/atomics.h"
#include "libfabric/capabilities.h"
#include "libfabric/fence.h"
#include "libfabric/segments.h"
#include "libfabric/status.h"

namespace omx::fabric {

using Engine = protocol::Endpoint;
using protocol::TimeNs;
using runtime::EngineAccess;

// Returns a new operation with its flags, counted, without parts. nullptr: `error` says why not.
Operation* RemoteMemory::begin(EngineAccess& direct, const AccessCall& call, std::uint64_t flags,
                               int& error) {
  if (!endpoint_.send_allowed(direct)) return error = -FI_EAGAIN, nullptr;
  Operation* op = endpoint_.operation_new(OperationKind::access);
  if (!op) return error = -FI_ENOMEM, nullptr;
  op->context = call.context;
  op->has_context = call.has_context;
  op->wanted = call.has_context && Endpoint::wanted(endpoint_.bindings.transmit(), call.flags);
  op->flags = flags;
  op->counted = true;
  endpoint_.send_begun();
  // No id is one of an earlier incarnation.
  if (next_id_ == 0) next_id_ = std::uint64_t{endpoint_.runtime_endpoint().session()} << 32;
  op->id = next_id_++;
  return op;
}

// Sends a message of the operation: `own`, or else `segments`. Returns 0 or a negative error code.
int RemoteMemory::part_send(EngineAccess& direct, Operation& owner, fi_addr_t peer,
                            std::vector<std::byte> own, std::span<const protocol::Segment> segments,
                            MessageClass message_class) {
  Operation* part = endpoint_.operation_new(OperationKind::access_part);
  if (!part) return -FI_ENOMEM;
  part->owner = &owner;
  part->own = std::move(own);
  const protocol::Segment whole{part->own.data(), static_cast<std::uint32_t>(part->own.size())};
  protocol::SendOp send;
  send.match_info = owner.id;
  send.message_class = message_class;
  const auto all = part->own.empty() ? segments : std::span<const protocol::Segment>(&whole, 1);
  const int error = peers_.dispatch(direct.engine(), direct.now(), peer, *part, all, send);
  if (error)
    endpoint_.operation_free(*part);
  else
    owner.parts++;
  return error;
}

// Prepares the receive of the answer, whose header comes to the operation's memory, and the data behind it to
// `result`. Posts it where the peer is connected.
int RemoteMemory::answer_await(EngineAccess& direct, Operation& op, fi_addr_t peer,
                               std::span<const protocol::Segment> result) {
  const Peers::Destination* from = peers_.find(direct.engine(), peer);
  if (!from) return peers_.why_none(peer);
  op.own.resize(kAnswerHeader);
  op.result.assign({{op.own.data(), kAnswerHeader}});
  op.result.insert(op.result.end(), result.begin(), result.end());
  for (const protocol::Segment& s : result) op.bytes += s.length;
  op.parts = 1;
  // A new connection first ends what waits for an earlier incarnation.
  op.unposted = !(peers_.ready(*from) && from->waiting.empty());
  return op.unposted ? 0 : answer_post(direct.engine(), direct.now(), op, from->peer);
}

int RemoteMemory::answer_post(Engine& engine, TimeNs now, Operation& op, protocol::Peer* from) {
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

// Takes back an operation of which nothing was sent.
void RemoteMemory::undo(EngineAccess& direct, Operation& op) {
  if (op.request) direct.engine().cancel(op.request);
  endpoint_.send_ended();
  endpoint_.operation_free(op);
}

int RemoteMemory::start(EngineAccess& direct, Operation& op, fi_addr_t peer,
                        std::span<const protocol::Segment> result, std::vector<std::byte> request,
                        std::span<const protocol::Segment> data) {
  int error = answer_await(direct, op, peer, result);
  if (!error) error = part_send(direct, op, peer, std::move(request), {}, kClassRequest);
  if (error) {
    undo(direct, op);
    return error;
  }
  if (data.empty()) return 0;
  error = part_send(direct, op, peer, {}, data, kClassData);
  // The peer never answers a write without its data.
  if (error) part_failed(direct.engine(), op, -error);
  return 0;
}

// Notes that a part has failed, so that the peer will not answer. If the answer is on its way after all, it
// ends the operation as it comes.
void RemoteMemory::part_failed(Engine& engine, Operation& owner, int error) {
  assert(owner.kind == OperationKind::access);
  assert(error != 0);
  if (owner.error) return;
  owner.error = error;
  if (owner.request) engine.cancel(owner.request, true);
  if (owner.unposted) owner.parts--;
  owner.unposted = false;
}

bool RemoteMemory::still_wanted(Engine& engine, TimeNs now, Operation& part, protocol::Peer* to) {
  assert(part.kind == OperationKind::access_part);
  assert(part.owner);
  Operation& owner = *part.owner;
  if (owner.unposted && answer_post(engine, now, owner, to) != 0) owner.error = FI_ENOMEM;
  return !owner.error;  // the answer of a failed operation is not awaited
}

void RemoteMemory::finished(Engine& engine, Operation& op, const protocol::Completion& c) {
  assert(op.kind == OperationKind::access || op.kind == OperationKind::access_part);
  Operation& owner = op.owner ? *op.owner : op;
  // The answer says what the peer took of a write's data.
  const bool fine = c.status == protocol::Status::success || c.status == protocol::Status::truncated;
  int error = fine ? 0 : error_of(c.status);
  if (!op.owner) {
    op.request = nullptr;
    if (!error) error = c.xfer_length < kAnswerHeader ? FI_EIO : answer_error(op.own.data());
    // A success comes with all the data that were asked for.
    if (!error && c.msg_length != kAnswerHeader + op.bytes) error = FI_EIO;
  }
  if (error) part_failed(engine, owner, error);
  if (op.owner) endpoint_.operation_free(op);
  assert(owner.parts > 0);
  if (--owner.parts > 0) return;
  endpoint_.send_ended();
  reports_.sent(owner, owner.error, -owner.error);
  endpoint_.operation_free(owner);
}

ssize_t RemoteMemory::access(const RmaCall& call) noexcept try {
  if (const int error = endpoint_.unusable()) return error;
  Segments segments;
  if (const int error = segments.assign(call.pieces)) return error;
  if (call.remote.size() > kPiecesMost || call.remote.empty()) return -FI_EINVAL;
  if (!(endpoint_.choices.caps & FI_RMA)) return -FI_EOPNOTSUPP;
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

  EngineAccess direct(endpoint_.runtime_endpoint());
  int error = 0;
  Operation* op = begin(direct, call, FI_RMA | (call.write ? FI_WRITE : FI_READ), error);
  if (!op) return error;
  request.id = op->id;
  const bool short_write = call.write && !request.separate;
  std::vector<std::byte> message = request_encode(request, short_write ? segments.length() : 0);
  if (short_write)
    for (const protocol::Segment& s : segments.span())
      message.insert(message.end(), s.base, s.base + s.length);
  return start(direct, *op, call.peer, call.write ? std::span<const protocol::Segment>() : segments.span(),
               std::move(message), request.separate ? segments.span() : std::span<const protocol::Segment>());
} catch (...) {
  return failure_code();
}

ssize_t RemoteMemory::access(const AtomicCall& call) noexcept try {
  if (const int error = endpoint_.unusable()) return error;
  if (!(endpoint_.choices.caps & FI_ATOMIC) || !atomic_supported(call.form, call.datatype, call.operation))
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

  EngineAccess direct(endpoint_.runtime_endpoint());
  Segments result;
  if (const int error = result.assign(call.result, size)) return error;
  if (call.form != AtomicForm::plain && result.length() < request.bytes) return -FI_EINVAL;
  int error = 0;
  const std::uint64_t direction = call.form == AtomicForm::plain ? FI_WRITE : FI_READ;
  Operation* op = begin(direct, call, FI_ATOMIC | direction, error);
  if (!op) return error;
  request.id = op->id;
  std::vector<std::byte> message = request_encode(request, 2 * request.bytes);
  bool whole = true;
  if (call.operation != FI_ATOMIC_READ) whole = operands_append(message, call.operands, size, request.bytes);
  if (call.form == AtomicForm::compare)
    whole = operands_append(message, call.compare, size, request.bytes) && whole;
  if (!whole) {  // the call has fewer values than the remote pieces
    undo(direct, *op);
    return -FI_EINVAL;
  }
  return start(direct, *op, call.peer, result.span(), std::move(message), {});
} catch (...) {
  return failure_code();
}

}  // namespace omx::fabric
