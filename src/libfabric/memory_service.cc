// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/memory_service.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/log.h"
#include "libfabric/atomics.h"
#include "libfabric/domain.h"
#include "libfabric/provider.h"

namespace omx::fabric {

using Engine = protocol::Endpoint;
using protocol::TimeNs;

namespace {

// Buffers for requests. When one is full, the other takes over.
constexpr std::size_t kServiceBytes = 64 * 1024;
constexpr int kServiceBuffers = 2;

std::uint64_t access_of(const MemoryRequest& request) {
  if (request.kind == MemoryKind::write) return FI_REMOTE_WRITE;
  if (request.kind == MemoryKind::read) return FI_REMOTE_READ;
  if (request.operation == FI_ATOMIC_READ) return FI_REMOTE_READ;
  return request.form == AtomicForm::plain ? FI_REMOTE_WRITE : FI_REMOTE_READ | FI_REMOTE_WRITE;
}

}  // namespace

bool MemoryService::start(Engine& engine, TimeNs now) {
  for (int i = 0; i < kServiceBuffers; i++) {
    Operation* op = endpoint_.operation_new(OperationKind::service);
    if (!op) return false;
    op->own.resize(kServiceBytes);
    if (!post(engine, now, *op)) return false;
  }
  return true;
}

bool MemoryService::post(Engine& engine, TimeNs now, Operation& op) {
  const protocol::Segment memory{op.own.data(), static_cast<std::uint32_t>(op.own.size())};
  protocol::ReceiveOp receive;
  receive.segments = {&memory, 1};
  receive.match_mask = 0;
  receive.message_class = kClassRequest;
  receive.multi_receive_least = kRequestMost;
  receive.context = &op;
  return engine.receive(now, receive).has_value();
}

void MemoryService::finished(Engine& engine, TimeNs now, Operation& op, const protocol::Completion& c) {
  if (op.kind == OperationKind::service) return received(engine, now, op, c);
  if (op.kind == OperationKind::service_part) {
    const bool whole = c.status == protocol::Status::success && c.xfer_length == op.bytes;
    return written(engine, now, op, op.error ? op.error : whole ? 0 : FI_EIO);
  }
  assert(op.kind == OperationKind::service_answer);
  release(op);
  endpoint_.operation_free(op);
}

void MemoryService::received(Engine& engine, TimeNs now, Operation& op, const protocol::Completion& c) {
  if (c.status == protocol::Status::success) {
    std::span<const std::byte> payload;
    const auto request = request_decode({c.place, c.xfer_length}, payload);
    if (request)
      run(engine, now, c.peer, *request, payload);
    else
      warn(FI_LOG_EP_DATA, "a malformed request for memory was dropped");
  }
  if (c.released && !endpoint_.closing()) post(engine, now, op);
}

// Holds all pieces of the request. Returns false if one of them is not allowed.
bool MemoryService::hold(const MemoryRequest& request, Operation& op,
                         std::vector<protocol::Segment>& segments) {
  MemoryRegions& regions = endpoint_.domain().regions();
  for (std::size_t i = 0; i < request.pieces; i++) {
    const fi_rma_iov& piece = request.piece[i];
    MemoryRegion* region = regions.hold(piece.key, piece.addr, piece.len, access_of(request));
    if (!region) {
      release(op);
      return false;
    }
    op.regions.push_back(region);
    region_pieces(*region, piece.addr, piece.len, segments);
  }
  return segments.size() <= protocol::kMaxSegments - 1;
}

void MemoryService::release(Operation& op) {
  for (MemoryRegion* region : op.regions) endpoint_.domain().regions().release(*region);
  op.regions.clear();
}

// Serves a request.
void MemoryService::run(Engine& engine, TimeNs now, protocol::Peer* from, const MemoryRequest& request,
                        std::span<const std::byte> payload) {
  Operation* op = endpoint_.operation_new(OperationKind::service_part);
  if (!op) return warn(FI_LOG_EP_DATA, "no memory to serve a peer");
  op->peer = from;
  op->id = request.id;
  op->bytes = request.bytes;
  op->has_remote_data = request.has_data;
  op->remote_data = request.data;
  op->flags = access_of(request) | (request.kind == MemoryKind::atomic ? FI_ATOMIC : FI_RMA);
  std::vector<protocol::Segment> segments;
  const bool offered = endpoint_.choices.caps & (FI_RMA | FI_ATOMIC);
  const bool allowed = offered && hold(request, *op, segments);
  if (request.kind == MemoryKind::write && request.separate)
    return data_await(engine, now, *op, allowed, segments);
  if (!allowed) return answer(engine, now, *op, FI_EACCES, {}, {});
  switch (request.kind) {
    case MemoryKind::write:
      return write(engine, now, *op, segments, payload);
    case MemoryKind::read:
      return read(engine, now, *op, segments);
    case MemoryKind::atomic:
      return change(engine, now, *op, request, segments, payload);
  }
}

// Posts the receive of a long write's data. Where the write is not allowed, the data come all the same, and
// are dropped.
void MemoryService::data_await(Engine& engine, TimeNs now, Operation& op, bool allowed,
                               std::span<const protocol::Segment> segments) {
  op.error = allowed ? 0 : FI_EACCES;
  protocol::ReceiveOp receive;
  if (allowed) receive.segments = segments;
  receive.match_info = op.id;
  receive.message_class = kClassData;
  receive.source = op.peer;
  receive.awaited = true;
  // The conversation may have ended in the same batch of frames.
  if (!protocol::peer_connected(op.peer)) receive.source_gone = protocol::Status::endpoint_unreachable;
  receive.context = &op;
  const auto posted = engine.receive(now, receive);
  if (!posted) return answer(engine, now, op, FI_ENOMEM, {}, {});
  op.request = *posted;
}

void MemoryService::write(Engine& engine, TimeNs now, Operation& op,
                          std::span<const protocol::Segment> segments, std::span<const std::byte> payload) {
  assert(payload.size() == op.bytes);
  const std::byte* data = payload.data();
  for (const protocol::Segment& s : segments) {
    std::memcpy(s.base, data, s.length);
    data += s.length;
  }
  written(engine, now, op, 0);
}

void MemoryService::read(Engine& engine, TimeNs now, Operation& op,
                         std::span<const protocol::Segment> segments) {
  reports_.accessed(op);
  if (op.bytes > kRmaInlineMost) return answer(engine, now, op, 0, {}, segments);
  // The answer is a copy, because what is written later must not be read (FI_ORDER_WAR).
  std::vector<std::byte> copy;
  copy.reserve(op.bytes);
  for (const protocol::Segment& s : segments) copy.insert(copy.end(), s.base, s.base + s.length);
  release(op);
  answer(engine, now, op, 0, copy, {});
}

// Runs an atomic operation.
void MemoryService::change(Engine& engine, TimeNs now, Operation& op, const MemoryRequest& request,
                           std::span<const protocol::Segment> segments, std::span<const std::byte> payload) {
  std::vector<std::byte> result;
  const int error = endpoint_.domain().atomics().run(request, segments, payload, result);
  if (!error) reports_.accessed(op);
  release(op);
  answer(engine, now, op, error, result, {});
}

// Answers a write, whose data are in place unless there is an error.
void MemoryService::written(Engine& engine, TimeNs now, Operation& op, int error) {
  if (!error) reports_.accessed(op);
  release(op);
  answer(engine, now, op, error, {}, {});
}

// Sends the answer: a header, then `copy` or what lies in `segments`, which stays held until it has been
// sent.
void MemoryService::answer(Engine& engine, TimeNs now, Operation& op, int error,
                           std::span<const std::byte> copy, std::span<const protocol::Segment> segments) {
  assert(op.peer);
  op.kind = OperationKind::service_answer;
  std::uint64_t bytes = copy.size();
  for (const protocol::Segment& s : segments) bytes += s.length;
  op.own.resize(kAnswerHeader);
  op.own.insert(op.own.end(), copy.begin(), copy.end());
  answer_encode(op.own.data(), error, bytes);
  std::vector<protocol::Segment> all{{op.own.data(), static_cast<std::uint32_t>(op.own.size())}};
  all.insert(all.end(), segments.begin(), segments.end());
  protocol::SendOp send;
  send.peer = op.peer;
  send.segments = all;
  send.match_info = op.id;
  send.message_class = kClassAnswer;
  send.context = &op;
  if (engine.send(now, send)) return;
  // The peer must get an answer.
  if (bytes > 0) {
    release(op);
    return answer(engine, now, op, FI_EIO, {}, {});
  }
  warn(FI_LOG_EP_DATA, "no memory to answer a peer");
  release(op);
  endpoint_.operation_free(op);
}

void MemoryService::revoke(Engine& engine, TimeNs now, MemoryRegion& region, bool late) {
  Operation* next = nullptr;
  for (Operation* op = endpoint_.operation_first(); op; op = next) {
    next = endpoint_.operation_after(*op);
    if (std::find(op->regions.begin(), op->regions.end(), &region) == op->regions.end()) continue;
    if (op->kind == OperationKind::service_part) engine.cancel(op->request, true);
    if (!late) continue;
    const protocol::PeerInfo peer = protocol::peer_info(op->peer);
    log(LogLevel::warn,
        "{}: {} does not end its access to memory that fi_close() takes back, so messages with it end here",
        endpoint_.domain().board().interface.name,
        endpoint_.runtime_endpoint().peer_text(peer.nic, peer.endpoint));
    engine.disconnect(now, op->peer);
  }
}

}  // namespace omx::fabric
