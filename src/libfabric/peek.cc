// SPDX-License-Identifier: BSD-3-Clause
// Looking at a message before it is received: FI_PEEK, FI_CLAIM, FI_DISCARD. What was found comes through the
// completion queue, and so does that nothing was (libfabric.md 2.5, 6.2).
#include "libfabric/endpoint.h"
#include "libfabric/provider.h"
#include "libfabric/segments.h"

namespace omx::fabric {

namespace {

std::uint64_t entry_flags(const ReceiveCall& call, bool has_data) {
  return FI_RECV | kind_flag(call.message_class) | (has_data ? FI_REMOTE_CQ_DATA : 0);
}

}  // namespace

ssize_t Endpoint::peek(const ReceiveCall& call) {
  if (const int error = unusable()) return error;
  if (!receive_queue_) return -FI_ENOCQ;
  Direct direct(*endpoint_);
  direct.turn();  // a loop of peeks must see what arrives
  Engine& engine = direct.engine();
  protocol::ReceiveOp from_whom;
  if (const int error = receive_source(engine, call.from, from_whom)) return error;
  const protocol::Partner* const source = from_whom.source;
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
    // A loop of peeks waits for that peer.
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
    if (caps_ & FI_SOURCE) entry.source = source_of(found->partner, found->session, found->conversation);
    if (message && (call.flags & FI_CLAIM))
      claimed_[call.context] = message;
    else if (message)
      engine.discard(direct.now(), message);
  }
  receive_queue_->push(entry);
  direct.signal();
  return 0;
}

// The message is found by the context that it was claimed with, whatever else the call says.
ssize_t Endpoint::receive_claimed(const ReceiveCall& call) {
  if (const int error = unusable()) return error;
  Segments segments;
  if (const int error = segments.assign(call.pieces)) return error;
  Direct direct(*endpoint_);
  const auto found = claimed_.find(call.context);
  if (found == claimed_.end()) return -FI_EINVAL;
  Operation* op = operation_new(OperationKind::receive);
  if (!op) return -FI_ENOMEM;
  op->context = call.context;
  op->wanted = wanted(receive_queue_, receive_selective_, call.flags);
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
    operation_free(*op);
    return -FI_ENOMEM;
  }
  op->request = *request;
  claimed_.erase(found);
  receives_.push_back(*op);
  return 0;
}

}  // namespace omx::fabric
