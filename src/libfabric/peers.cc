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

Peers::Peer* Peers::find(Engine& engine, fi_addr_t number) {
  if (number < peers_.size()) [[likely]] {
    Peer* const peer = peers_[number].get();
    // The vector never moves an entry, and changes its generation when the address is removed.
    if (peer && peer->entry && peer->entry->generation.load(std::memory_order_acquire) == peer->generation)
      return peer;
  }
  return learn(engine, number);
}

Peers::Peer* Peers::learn(Engine& engine, fi_addr_t number) {
  const AddressVector::Entry* entry = endpoint_.bindings.addresses().entry(number);
  if (!entry) return nullptr;
  if (number >= peers_.size()) peers_.resize(number + 1);
  auto& slot = peers_[number];
  if (!slot) slot = std::make_unique<Peer>();
  Peer& peer = *slot;
  const std::uint32_t generation = entry->generation.load(std::memory_order_relaxed);
  assert(generation != peer.generation);
  peer.partner = engine.partner(entry->address.nic, static_cast<std::uint8_t>(entry->address.endpoint));
  if (!peer.partner) return nullptr;  // the engine has as many peers as it can
  peer.session = entry->address.session;
  peer.generation = generation;
  peer.entry = entry;
  return &peer;
}

int Peers::why_none(fi_addr_t number) const {
  return endpoint_.bindings.addresses().entry(number) ? -FI_ENOMEM : -FI_EINVAL;
}

bool Peers::ready(const Peer& peer) const {
  return protocol::partner_connected(peer.partner) &&
         (peer.session == kAnySession || peer.session == protocol::partner_session(peer.partner));
}

std::uint32_t Peers::shunned(const Peer& peer) const {
  const auto ended = ended_.find(peer.partner);
  if (ended == ended_.end() || peer.generation >= ended->second.next_generation) return kAnySession;
  return ended->second.session;
}

Status Peers::over(const Peer& peer) const {
  if (ended_.empty()) [[likely]]
    return Status::pending;
  const std::uint32_t gone = shunned(peer);
  if (gone == kAnySession) return Status::pending;
  const Status how = ended_.at(peer.partner).status;
  if (peer.session != kAnySession) return peer.session == gone ? how : Status::pending;
  const bool same =
      protocol::partner_connected(peer.partner) && protocol::partner_session(peer.partner) == gone;
  return same ? how : Status::pending;
}

fi_addr_t Peers::source_of(const protocol::Partner* partner, std::uint32_t session,
                           std::uint32_t conversation) const {
  const protocol::PartnerInfo from = protocol::partner_info(partner);
  // Numbers from before the last conversation ended are good for what came in it, not for the present one.
  const auto ended = ended_.empty() ? ended_.end() : ended_.find(partner);
  const bool present = conversation == from.conversation;
  return endpoint_.bindings.addresses().find(
      {from.nic, from.endpoint, session},
      ended != ended_.end() && present ? ended->second.next_generation : 0);
}

int Peers::dispatch(Engine& engine, TimeNs now, fi_addr_t number, Operation& op,
                    std::span<const protocol::Segment> segments, const protocol::SendOp& send) {
  Peer* peer = find(engine, number);
  if (!peer) return why_none(number);
  if (const Status how = over(*peer); how != Status::pending) [[unlikely]]
    return refuse(engine, now, op, how);
  protocol::SendOp full = send;
  full.partner = peer->partner;
  full.session = peer->session;
  full.segments = segments;
  full.context = &op;
  if (ready(*peer) && peer->waiting.empty()) [[likely]] {
    const auto request = engine.send(now, full);
    if (!request) return request.error() == protocol::OpError::no_resources ? -FI_EAGAIN : -FI_EINVAL;
    op.request = *request;
    return 0;
  }
  op.waiting = std::make_unique<Operation::Waiting>();
  op.waiting->op = full;
  op.waiting->segments.assign(segments.begin(), segments.end());
  if (full.inject) {
    auto& copy = op.waiting->copy;
    for (const protocol::Segment& s : segments) copy.insert(copy.end(), s.base, s.base + s.length);
    op.waiting->segments = {{copy.data(), static_cast<std::uint32_t>(copy.size())}};
    op.waiting->op.inject = false;  // the copy lives as long as the operation
  }
  if (const int error = connect(engine, now, *peer, number)) return error;
  peer->waiting.push_back(op);
  return 0;
}

// Ends an operation whose conversation is over, or returns the error of the call that began it.
int Peers::refuse(Engine& engine, TimeNs now, Operation& op, Status over) {
  if (op.kind != OperationKind::send || !op.has_context) return -error_of(over);
  refusals_++;
  waiting_.unsent(engine, now, op, over);
  return 0;
}

int Peers::connect(Engine& engine, TimeNs now, Peer& peer, fi_addr_t number) {
  if (peer.connecting) return 0;
  Operation* op = endpoint_.operation_new(OperationKind::connect);
  if (!op) return -FI_ENOMEM;
  op->peer = number;
  const protocol::PartnerInfo info = protocol::partner_info(peer.partner);
  auto request = engine.connect(now, info.nic, info.endpoint, kKey, 0, op, false, false, shunned(peer));
  if (!request) {
    endpoint_.operation_free(*op);
    return -FI_ENOMEM;
  }
  engine.set_timeout(*request, Unreached::connect_patience());
  peer.connecting = true;
  return 0;
}

void Peers::connected(Engine& engine, TimeNs now, const Operation& connect, const protocol::Completion& c) {
  assert(connect.kind == OperationKind::connect);
  assert(connect.peer < peers_.size());
  Peer& peer = *peers_[connect.peer];
  assert(peer.connecting);
  peer.connecting = false;
  if (c.status != Status::success) {
    unreached_.tell(peer.partner, c.status, shunned(peer) != kAnySession, Unreached::connect_patience());
    return fail_waiting(engine, now, peer, c.status);
  }
  unreached_.forget(peer.partner);
  if (!ready(peer)) return fail_waiting(engine, now, peer, Status::bad_session);
  send_waiting(engine, now, peer);
}

void Peers::send_waiting(Engine& engine, TimeNs now, Peer& peer) {
  while (Operation* op = peer.waiting.pop_front()) {
    assert(op->waiting);
    if (!waiting_.still_wanted(engine, now, *op, peer.partner)) {
      waiting_.unsent(engine, now, *op, Status::aborted);
      continue;
    }
    protocol::SendOp send = op->waiting->op;
    send.segments = op->waiting->segments;
    send.partner = peer.partner;
    const auto request = engine.send(now, send);
    if (request)
      op->request = *request;
    else
      waiting_.unsent(engine, now, *op, Status::no_resources);
  }
}

void Peers::fail_waiting(Engine& engine, TimeNs now, Peer& peer, Status status) {
  // Reports may make the application's progress thread send again. Such messages are for the next
  // connection.
  List<Operation, &Operation::hook> now_waiting;
  while (Operation* op = peer.waiting.pop_front()) now_waiting.push_back(*op);
  while (Operation* op = now_waiting.pop_front()) waiting_.unsent(engine, now, *op, status);
}

void Peers::conversation_ended(const protocol::PeerNews& news) {
  if (endpoint_.closing()) return;
  try {
    ended_[news.partner] = {endpoint_.bindings.addresses().next_generation(), news.session, news.status};
  } catch (const std::exception& e) {
    warn(FI_LOG_EP_CTRL, e.what());
  }
}

void Peers::unreached(const protocol::PeerNews& news) {
  const TimeNs patience = endpoint_.domain().process().settings().protocol.peer_timeout;
  unreached_.tell(news.partner, news.status, false, std::min(Unreached::connect_patience(), patience));
}

bool Peers::none_waiting() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& p) { return !p || p->waiting.empty(); });
}

void Peers::abort_waiting(Engine& engine, TimeNs now) {
  for (auto& peer : peers_)
    if (peer) fail_waiting(engine, now, *peer, Status::aborted);
}

}  // namespace omx::fabric
