// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/peers.h"

#include <algorithm>
#include <cassert>
#include <exception>

#include "libfabric/domain.h"
#include "libfabric/provider.h"
#include "libfabric/status.h"

namespace omx::fabric {

using protocol::Status;
using protocol::TimeNs;
using Engine = protocol::Endpoint;

Peers::Destination* Peers::find(Engine& engine, fi_addr_t number) {
  if (number < peers_.size()) [[likely]] {
    Destination* const to = peers_[number].get();
    // The vector never moves an entry, and changes its generation when the address is removed.
    if (to && to->entry && to->entry->generation.load(std::memory_order_acquire) == to->generation) return to;
  }
  return learn(engine, number);
}

Peers::Destination* Peers::learn(Engine& engine, fi_addr_t number) {
  const AddressVector::Entry* entry = endpoint_.bindings.addresses().entry(number);
  if (!entry) return nullptr;
  if (number >= peers_.size()) peers_.resize(number + 1);
  auto& slot = peers_[number];
  if (!slot) slot = std::make_unique<Destination>();
  Destination& to = *slot;
  const std::uint32_t generation = entry->generation.load(std::memory_order_relaxed);
  assert(generation != to.generation);
  to.peer = engine.peer(entry->address.nic, static_cast<std::uint8_t>(entry->address.endpoint));
  if (!to.peer) return nullptr;  // the engine has as many peers as it can
  to.session = entry->address.session;
  to.generation = generation;
  to.entry = entry;
  return &to;
}

int Peers::why_none(fi_addr_t number) const {
  return endpoint_.bindings.addresses().entry(number) ? -FI_ENOMEM : -FI_EINVAL;
}

bool Peers::ready(const Destination& to) const {
  return protocol::peer_connected(to.peer) &&
         (to.session == kAnySession || to.session == protocol::peer_session(to.peer));
}

std::uint32_t Peers::shunned(const Destination& to) const {
  const auto ended = ended_.find(to.peer);
  if (ended == ended_.end() || to.generation >= ended->second.next_generation) return kAnySession;
  return ended->second.session;
}

Status Peers::over(const Destination& to) const {
  if (ended_.empty()) [[likely]]
    return Status::pending;
  const std::uint32_t gone = shunned(to);
  if (gone == kAnySession) return Status::pending;
  const Status how = ended_.at(to.peer).status;
  if (to.session != kAnySession) return to.session == gone ? how : Status::pending;
  const bool same = protocol::peer_connected(to.peer) && protocol::peer_session(to.peer) == gone;
  return same ? how : Status::pending;
}

fi_addr_t Peers::source_of(const protocol::Peer* peer, std::uint32_t session,
                           std::uint32_t conversation) const {
  const protocol::PeerInfo from = protocol::peer_info(peer);
  // Numbers from before the last conversation ended are good for what came in it, not for the present one.
  const auto ended = ended_.empty() ? ended_.end() : ended_.find(peer);
  const bool present = conversation == from.conversation;
  return endpoint_.bindings.addresses().find(
      {from.nic, from.endpoint, session},
      ended != ended_.end() && present ? ended->second.next_generation : 0);
}

int Peers::dispatch(Engine& engine, TimeNs now, fi_addr_t number, Operation& op,
                    std::span<const protocol::Segment> segments, protocol::SendOp& send) {
  Destination* to = find(engine, number);
  if (!to) return why_none(number);
  if (const Status how = over(*to); how != Status::pending) [[unlikely]]
    return refuse(engine, now, op, how);
  send.peer = to->peer;
  send.session = to->session;
  send.segments = segments;
  send.context = &op;
  if (ready(*to) && to->waiting.empty()) [[likely]] {
    const auto request = engine.send(now, send);
    if (!request) return request.error() == protocol::OpError::no_resources ? -FI_EAGAIN : -FI_EINVAL;
    op.request = *request;
    return 0;
  }
  op.waiting = std::make_unique<Operation::Waiting>();
  op.waiting->op = send;
  op.waiting->segments.assign(segments.begin(), segments.end());
  if (send.inject) {
    auto& copy = op.waiting->copy;
    for (const protocol::Segment& s : segments) copy.insert(copy.end(), s.base, s.base + s.length);
    op.waiting->segments = {{copy.data(), static_cast<std::uint32_t>(copy.size())}};
    op.waiting->op.inject = false;  // the copy lives as long as the operation
  }
  if (const int error = connect(engine, now, *to, number)) return error;
  to->waiting.push_back(op);
  return 0;
}

// Ends an operation whose conversation is over, or returns the error of the call that began it.
int Peers::refuse(Engine& engine, TimeNs now, Operation& op, Status over) {
  if (op.kind != OperationKind::send || !op.has_context) return -error_of(over);
  refusals_++;
  waiting_.unsent(engine, now, op, over);
  return 0;
}

int Peers::connect(Engine& engine, TimeNs now, Destination& to, fi_addr_t number) {
  if (to.connecting) return 0;
  Operation* op = endpoint_.operation_new(OperationKind::connect);
  if (!op) return -FI_ENOMEM;
  op->address = number;
  const protocol::PeerInfo info = protocol::peer_info(to.peer);
  auto request = engine.connect(now, info.nic, info.endpoint, kKey, 0, op, false, false, shunned(to));
  if (!request) {
    endpoint_.operation_free(*op);
    return -FI_ENOMEM;
  }
  engine.set_timeout(*request, Unreached::connect_patience());
  to.connecting = true;
  return 0;
}

void Peers::connected(Engine& engine, TimeNs now, const Operation& connect, const protocol::Completion& c) {
  assert(connect.kind == OperationKind::connect);
  assert(connect.address < peers_.size());
  Destination& to = *peers_[connect.address];
  assert(to.connecting);
  to.connecting = false;
  if (c.status != Status::success) {
    unreached_.tell(to.peer, c.status, shunned(to) != kAnySession, Unreached::connect_patience());
    return fail_waiting(engine, now, to, c.status);
  }
  unreached_.forget(to.peer);
  if (!ready(to)) return fail_waiting(engine, now, to, Status::bad_session);
  send_waiting(engine, now, to);
}

void Peers::send_waiting(Engine& engine, TimeNs now, Destination& to) {
  while (Operation* op = to.waiting.pop_front()) {
    assert(op->waiting);
    if (!waiting_.still_wanted(engine, now, *op, to.peer)) {
      waiting_.unsent(engine, now, *op, Status::aborted);
      continue;
    }
    protocol::SendOp send = op->waiting->op;
    send.segments = op->waiting->segments;
    send.peer = to.peer;
    const auto request = engine.send(now, send);
    if (request)
      op->request = *request;
    else
      waiting_.unsent(engine, now, *op, Status::no_resources);
  }
}

void Peers::fail_waiting(Engine& engine, TimeNs now, Destination& to, Status status) {
  // Reports may make the application's progress thread send again. Such messages are for the next
  // connection.
  List<Operation, &Operation::hook> now_waiting;
  while (Operation* op = to.waiting.pop_front()) now_waiting.push_back(*op);
  while (Operation* op = now_waiting.pop_front()) waiting_.unsent(engine, now, *op, status);
}

void Peers::conversation_ended(const protocol::PeerNews& news) {
  if (endpoint_.closing()) return;
  try {
    ended_[news.peer] = {endpoint_.bindings.addresses().next_generation(), news.session, news.status};
  } catch (const std::exception& e) {
    warn(FI_LOG_EP_CTRL, e.what());
  }
}

void Peers::unreached(const protocol::PeerNews& news) {
  const TimeNs patience = endpoint_.domain().process().settings().protocol.reliability.peer_timeout;
  unreached_.tell(news.peer, news.status, false, std::min(Unreached::connect_patience(), patience));
}

bool Peers::none_waiting() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& p) { return !p || p->waiting.empty(); });
}

void Peers::abort_waiting(Engine& engine, TimeNs now) {
  for (auto& to : peers_)
    if (to) fail_waiting(engine, now, *to, Status::aborted);
}

}  // namespace omx::fabric
