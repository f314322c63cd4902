// SPDX-License-Identifier: BSD-3-Clause
// Memory of peers, the side that is asked. Requests come to receives of our own and are served by whoever
// makes progress, in the order in which they were sent; nothing of the application is needed.
#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "libfabric/atomics.h"
#include "libfabric/endpoint.h"
#include "libfabric/provider.h"

namespace omx::fabric {

namespace {

// Memory that requests arrive in; when one is full of them, the other takes over.
constexpr std::size_t kServiceMemory = 64 * 1024;
constexpr int kServiceMemories = 2;

std::uint64_t access_of(const MemoryRequest& request) {
  if (request.kind == MemoryKind::write) return FI_REMOTE_WRITE;
  if (request.kind == MemoryKind::read) return FI_REMOTE_READ;
  if (request.operation == FI_ATOMIC_READ) return FI_REMOTE_READ;
  return request.form == AtomicForm::plain ? FI_REMOTE_WRITE : FI_REMOTE_READ | FI_REMOTE_WRITE;
}

}  // namespace

bool Endpoint::service_start(Engine& engine, protocol::TimeNs now) {
  for (int i = 0; i < kServiceMemories; i++) {
    Operation* op = operation_new(OperationKind::service);
    if (!op) return false;
    op->own.resize(kServiceMemory);
    if (!service_post(engine, now, *op)) return false;
  }
  return true;
}

bool Endpoint::service_post(Engine& engine, protocol::TimeNs now, Operation& op) {
  const protocol::Segment memory{op.own.data(), static_cast<std::uint32_t>(op.own.size())};
  protocol::ReceiveOp receive;
  receive.segments = {&memory, 1};
  receive.match_mask = 0;
  receive.message_class = kClassRequest;
  receive.multi_least = kRequestMost;
  receive.context = &op;
  return engine.receive(now, receive).has_value();
}

void Endpoint::service_received(Engine& engine, protocol::TimeNs now, Operation& op,
                                const protocol::Completion& c) {
  if (c.status == protocol::Status::success) {
    std::span<const std::byte> payload;
    const auto request = request_decode({c.place, c.xfer_length}, payload);
    if (request)
      service_run(engine, now, c.partner, *request, payload);
    else
      warn(FI_LOG_EP_DATA, "a malformed request for memory was dropped");
  }
  if (c.released && !closing_) service_post(engine, now, op);
}

// All pieces of it, or none: then false.
bool Endpoint::service_hold(const MemoryRequest& request, Operation& op,
                            std::vector<protocol::Segment>& segments) {
  MemoryRegions& regions = domain_.regions();
  for (std::size_t i = 0; i < request.pieces; i++) {
    const fi_rma_iov& piece = request.piece[i];
    MemoryRegion* region = regions.hold(piece.key, piece.addr, piece.len, access_of(request));
    if (!region) {
      service_release(op);
      return false;
    }
    op.regions.push_back(region);
    region_pieces(*region, piece.addr, piece.len, segments);
  }
  return segments.size() <= protocol::kMaxSegments - 1;
}

void Endpoint::service_release(Operation& op) {
  for (MemoryRegion* region : op.regions) domain_.regions().release(*region);
  op.regions.clear();
}

void Endpoint::service_run(Engine& engine, protocol::TimeNs now, protocol::Partner* from,
                           const MemoryRequest& request, std::span<const std::byte> payload) {
  Operation* op = operation_new(OperationKind::service_part);
  if (!op) return warn(FI_LOG_EP_DATA, "no memory to serve a peer");
  op->partner = from;
  op->id = request.id;
  op->bytes = request.bytes;
  op->has_remote_data = request.has_data;
  op->remote_data = request.data;
  op->flags = access_of(request) | (request.kind == MemoryKind::atomic ? FI_ATOMIC : FI_RMA);
  std::vector<protocol::Segment> segments;
  const bool allowed = (caps_ & (FI_RMA | FI_ATOMIC)) && service_hold(request, *op, segments);
  if (request.kind == MemoryKind::write && request.separate) {
    // Where it is not allowed, the data come all the same, to nowhere.
    op->error = allowed ? 0 : FI_EACCES;
    if (!allowed) segments.clear();
    protocol::ReceiveOp receive;
    receive.segments = segments;
    receive.match_info = request.id;
    receive.message_class = kClassData;
    receive.source = from;
    receive.awaited = true;
    // The conversation may have ended in the same batch of frames.
    if (!protocol::partner_connected(from)) receive.source_gone = protocol::Status::endpoint_unreachable;
    receive.context = op;
    const auto posted = engine.receive(now, receive);
    if (!posted) return service_answer(engine, now, *op, FI_ENOMEM, {}, {});
    op->request = *posted;
    return;
  }
  if (!allowed) return service_answer(engine, now, *op, FI_EACCES, {}, {});
  switch (request.kind) {
    case MemoryKind::write: {
      const std::byte* data = payload.data();
      for (const protocol::Segment& s : segments) {
        std::memcpy(s.base, data, s.length);
        data += s.length;
      }
      return service_written(engine, now, *op, 0);
    }
    case MemoryKind::read: {
      remote_event(*op);
      if (request.bytes > kRmaInlineMost) return service_answer(engine, now, *op, 0, {}, segments);
      // A copy: what is written later must not be read (FI_ORDER_WAR).
      std::vector<std::byte> copy;
      copy.reserve(request.bytes);
      for (const protocol::Segment& s : segments) copy.insert(copy.end(), s.base, s.base + s.length);
      service_release(*op);
      return service_answer(engine, now, *op, 0, copy, {});
    }
    case MemoryKind::atomic: {
      std::vector<std::byte> result;
      const int error = domain_.atomics().run(request, segments, payload, result);
      if (!error) remote_event(*op);
      service_release(*op);
      return service_answer(engine, now, *op, error, result, {});
    }
  }
}

void Endpoint::service_written(Engine& engine, protocol::TimeNs now, Operation& op, int error) {
  if (!error) remote_event(op);
  service_release(op);
  service_answer(engine, now, op, error, {}, {});
}

// Header, then `copy` or what lies in `segments`, which stays held until it has been sent.
void Endpoint::service_answer(Engine& engine, protocol::TimeNs now, Operation& op, int error,
                              std::span<const std::byte> copy, std::span<const protocol::Segment> segments) {
  op.kind = OperationKind::service_answer;
  std::uint64_t bytes = copy.size();
  for (const protocol::Segment& s : segments) bytes += s.length;
  op.own.resize(kAnswerHeader);
  op.own.insert(op.own.end(), copy.begin(), copy.end());
  answer_encode(op.own.data(), error, bytes);
  std::vector<protocol::Segment> all{{op.own.data(), static_cast<std::uint32_t>(op.own.size())}};
  all.insert(all.end(), segments.begin(), segments.end());
  protocol::SendOp send;
  send.partner = op.partner;
  send.segments = all;
  send.match_info = op.id;
  send.message_class = kClassAnswer;
  send.context = &op;
  if (engine.send(now, send)) return;
  // Whoever asked must hear something.
  if (bytes > 0) {
    service_release(op);
    return service_answer(engine, now, op, FI_EIO, {}, {});
  }
  warn(FI_LOG_EP_DATA, "no memory to answer a peer");
  service_release(op);
  operation_free(op);
}

void Endpoint::revoke(MemoryRegion& region, bool late) {
  if (endpoint_->foreign()) return;
  Direct direct(*endpoint_);
  Operation* next = nullptr;
  for (Operation* op = all_.front(); op; op = next) {
    next = all_.next(*op);
    if (std::find(op->regions.begin(), op->regions.end(), &region) == op->regions.end()) continue;
    if (op->kind == OperationKind::service_part) direct.engine().cancel(op->request, true);
    if (!late) continue;
    const protocol::PartnerInfo peer = protocol::partner_info(op->partner);
    log(LogLevel::warn,
        "{}: {} does not end its access to memory that fi_close() takes back, so messages with it end here",
        domain_.board().interface.name, endpoint_->peer_text(peer.nic, peer.endpoint));
    direct.engine().disconnect(direct.now(), op->partner);
  }
}

// What the application asked to be told of accesses to its memory.
void Endpoint::remote_event(const Operation& op) {
  const bool written = op.flags & FI_REMOTE_WRITE;
  if (Counter* counter = counters_[written ? kCountRemoteWrite : kCountRemoteRead]) counter->add(1);
  for (const MemoryRegion* region : op.regions)
    if (written && region->counter) region->counter->add(1);
  if (!op.has_remote_data || !receive_queue_ || closing_) return;
  Entry entry;
  entry.good.flags = op.flags | FI_REMOTE_CQ_DATA;
  entry.good.len = op.bytes;
  entry.good.data = op.remote_data;
  if (caps_ & FI_SOURCE) {
    const protocol::PartnerInfo from = protocol::partner_info(op.partner);
    entry.source = source_of(op.partner, from.session, from.conversation);
  }
  receive_queue_->push(entry);
}

}  // namespace omx::fabric
