// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/peeks.h"

#include <cassert>

#include "libfabric/completion_queue.h"
#include "libfabric/fence.h"
#include "libfabric/segments.h"
#include "libfabric/status.h"

namespace omx::fabric {

namespace {

std::uint64_t entry_flags(const ReceiveCall& call, bool has_data) {
  return FI_RECV | kind_flag(call.message_class) | (has_data ? FI_REMOTE_CQ_DATA : 0);
}

}  // namespace

ssize_t Peeks::peek(const ReceiveCall& call) noexcept try {
  if (const int error = endpoint_.unusable()) return error;
  CompletionQueue* const queue = endpoint_.bindings.receive().queue;
  if (!queue) return -FI_ENOCQ;
  runtime::EngineAccess direct(endpoint_.runtime_endpoint());
  direct.turn();  // a loop of peeks must see what arrives
  protocol::Endpoint& engine = direct.engine();
  protocol::ReceiveOp from_whom;
  if (const int error = transfers_.source_set(engine, call.from, from_whom)) return error;
  const protocol::Peer* const source = from_whom.source;
  const std::uint64_t mask = ~call.ignore;
  const auto found = engine.probe(call.tag & mask, mask, source, call.message_class, from_whom.session);
  protocol::Unexpected* message = nullptr;
  if (found && found->whole && (call.flags & (FI_CLAIM | FI_DISCARD)))
    message = engine.claim(call.tag & mask, mask, source, call.message_class, from_whom.session);

  Entry entry;
  entry.good.op_context = call.context;
  entry.good.flags = entry_flags(call, found && found->has_data);
  entry.good.tag = call.tag;
  if (!found || !found->whole) {
    entry.error = FI_ENOMSG;
    // A loop of peeks waits for that peer, so the engine watches it.
    protocol::Status gone = from_whom.source_gone;
    if (source && gone == protocol::Status::pending) gone = engine.watch(direct.now(), from_whom);
    if (gone != protocol::Status::pending) {
      entry.error = error_of(gone);
      entry.provider_error = static_cast<int>(gone);
    }
  } else {
    entry.good.tag = found->match_info;
    entry.good.len = found->msg_length;
    entry.good.data = found->remote_data;
    if (endpoint_.choices.caps & FI_SOURCE)
      entry.source = peers_.source_of(found->peer, found->session, found->conversation);
    if (message && (call.flags & FI_CLAIM))
      claimed_[call.context] = message;
    else if (message)
      engine.discard(direct.now(), message);
  }
  queue->push(entry);
  direct.signal();
  return 0;
} catch (...) {
  return failure_code();
}

ssize_t Peeks::receive_claimed(const ReceiveCall& call) noexcept try {
  if (const int error = endpoint_.unusable()) return error;
  Segments segments;
  if (const int error = segments.assign(call.pieces)) return error;
  runtime::EngineAccess direct(endpoint_.runtime_endpoint());
  const auto found = claimed_.find(call.context);
  if (found == claimed_.end()) return -FI_EINVAL;
  Operation* op = endpoint_.operation_new(OperationKind::receive);
  if (!op) return -FI_ENOMEM;
  op->context = call.context;
  op->wanted = Endpoint::wanted(endpoint_.bindings.receive(), call.flags);
  op->flags = entry_flags(call, false);
  op->tag = call.tag;
  protocol::ReceiveOp receive;
  op->discards = call.flags & FI_DISCARD;
  if (!op->discards) receive.segments = segments.span();
  receive.match_mask = 0;
  receive.message_class = call.message_class;
  receive.context = op;
  const auto request = direct.engine().receive_claimed(direct.now(), found->second, receive);
  if (!request) {
    endpoint_.operation_free(*op);
    return -FI_ENOMEM;
  }
  op->request = *request;
  claimed_.erase(found);
  transfers_.posted(*op);
  return 0;
} catch (...) {
  return failure_code();
}

void Peeks::discard_all(protocol::Endpoint& engine, protocol::TimeNs now) {
  for (auto& [context, message] : claimed_) engine.discard(now, message);
  claimed_.clear();
}

}  // namespace omx::fabric
