// SPDX-License-Identifier: BSD-3-Clause
// Addresses become partners when they are first used. A message to one that is not connected waits here, and
// the connection is made behind the application's back.
#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/log.h"
#include "libfabric/endpoint.h"
#include "libfabric/provider.h"

namespace omx::fabric {

namespace {

// `advice`: of the runtime.
std::string no_connection_reason(protocol::Status status, const std::string& advice) {
  switch (status) {
    case protocol::Status::bad_endpoint:
    case protocol::Status::endpoint_closed:
    case protocol::Status::bad_session:
      return "no such endpoint is open there any more";
    case protocol::Status::bad_key:
      return "it is open, but not by a program that uses libfabric";
    case protocol::Status::no_resources:
      return "it has no room for another peer";
    default:
      if (!advice.empty())
        return fmt::format("no answer within {} ms (FI_OMX_CONNECT_TIMEOUT); unless that host is down: {}",
                           parameters().connect_ms, advice);
      return fmt::format(
          "no answer within {} ms (FI_OMX_CONNECT_TIMEOUT); unless that host is down, the two interfaces are "
          "not on one network: name others with FI_OMX_IFACE",
          parameters().connect_ms);
  }
}

}  // namespace

Endpoint::Peer* Endpoint::peer_of(Engine& engine, fi_addr_t number) {
  const AddressVector::Entry* entry = addresses_->entry(number);
  if (!entry) return nullptr;
  if (number >= peers_.size()) peers_.resize(number + 1);
  auto& slot = peers_[number];
  if (!slot) slot = std::make_unique<Peer>();
  const std::uint32_t generation = entry->generation.load(std::memory_order_relaxed);
  if (slot->generation == generation) return slot.get();
  Peer& peer = *slot;
  peer.partner = engine.partner(entry->address.nic, static_cast<std::uint8_t>(entry->address.endpoint));
  if (!peer.partner) return nullptr;  // as many as can be
  peer.session = entry->address.session;
  peer.generation = generation;
  return &peer;
}

int Endpoint::no_peer(fi_addr_t number) const {
  return addresses_->entry(number) ? -FI_ENOMEM : -FI_EINVAL;
}

// Connected to the very instance that the address means.
bool Endpoint::peer_ready(const Peer& peer) const {
  return protocol::partner_connected(peer.partner) &&
         (peer.session == kAnySession || peer.session == protocol::partner_session(peer.partner));
}

std::uint32_t Endpoint::peer_shunned(const Peer& peer) const {
  const auto ended = ended_.find(peer.partner);
  if (ended == ended_.end() || peer.generation >= ended->second.next_generation) return kAnySession;
  return ended->second.session;
}

protocol::Status Endpoint::peer_over(const Peer& peer) const {
  if (ended_.empty()) [[likely]]
    return protocol::Status::pending;
  const std::uint32_t shunned = peer_shunned(peer);
  if (shunned == kAnySession) return protocol::Status::pending;
  const protocol::Status how = ended_.at(peer.partner).status;
  if (peer.session != kAnySession) return peer.session == shunned ? how : protocol::Status::pending;
  const bool same =
      protocol::partner_connected(peer.partner) && protocol::partner_session(peer.partner) == shunned;
  return same ? how : protocol::Status::pending;
}

void Endpoint::conversation_ended(const protocol::PeerNews& news) {
  if (closing_ || news.why == protocol::PeerNews::Why::disconnected) return;
  try {
    ended_[news.partner] = {addresses_->next_generation(), news.session, news.status};
  } catch (const std::exception& e) {
    warn(FI_LOG_EP_CTRL, e.what());
  }
}

int Endpoint::peer_connect(Engine& engine, protocol::TimeNs now, Peer& peer, fi_addr_t number) {
  if (peer.connecting) return 0;
  Operation* op = operation_new(OperationKind::connect);
  if (!op) return -FI_ENOMEM;
  op->peer = number;
  const protocol::PartnerInfo info = protocol::partner_info(peer.partner);
  auto request = engine.connect(now, info.nic, info.endpoint, kKey, 0, op, false, false, peer_shunned(peer));
  if (!request) {
    operation_free(*op);
    return -FI_ENOMEM;
  }
  engine.set_timeout(*request, parameters().connect_ms * protocol::kMillisecond);
  peer.connecting = true;
  return 0;
}

void Endpoint::peer_connected(Engine& engine, protocol::TimeNs now, Operation& connect,
                              const protocol::Completion& c) {
  Peer& peer = *peers_[connect.peer];
  peer.connecting = false;
  if (c.status != protocol::Status::success) {
    const protocol::PartnerInfo to = protocol::partner_info(peer.partner);
    const std::string text = fmt::format(
        "{}: no connection from {} to {}: {}", domain_.board().interface.name,
        mac_format(domain_.board().interface.nic), address_text({to.nic, to.endpoint, kAnySession}),
        no_connection_reason(c.status, endpoint_->silence_advice(to.nic)));
    warn(FI_LOG_EP_CTRL, text);
    // At the default level, too: what waits for the connection may have no request to fail.
    if (!closing_ && !std::exchange(peer.told, true)) log(LogLevel::warn, "{}", text);
    return peer_fail(engine, now, peer, c.status);
  }
  peer.told = false;
  if (!peer_ready(peer)) return peer_fail(engine, now, peer, protocol::Status::bad_session);
  while (Operation* op = peer.waiting.pop_front()) {
    // The answer's receive first. What has failed is not asked for any more.
    Operation* const owner = op->owner;
    if (owner && owner->unposted && access_post(engine, now, *owner, peer.partner) != 0)
      owner->error = FI_ENOMEM;
    if (owner && owner->error) {
      protocol::Completion failed;
      failed.status = protocol::Status::aborted;
      finish(engine, now, *op, failed);
      continue;
    }
    protocol::SendOp send = op->waiting->op;
    send.segments = op->waiting->segments;
    send.partner = peer.partner;
    const auto request = engine.send(now, send);
    if (request) {
      op->request = *request;
      continue;
    }
    protocol::Completion failed;
    failed.status = protocol::Status::no_resources;
    finish(engine, now, *op, failed);
  }
}

void Endpoint::peer_fail(Engine& engine, protocol::TimeNs now, Peer& peer, protocol::Status status) {
  protocol::Completion failed;
  failed.status = status;
  // What is reported may make the application's progress thread send again: that is for the next connection.
  List<Operation, &Operation::hook> now_waiting;
  while (Operation* op = peer.waiting.pop_front()) now_waiting.push_back(*op);
  while (Operation* op = now_waiting.pop_front()) finish(engine, now, *op, failed);
}

int Endpoint::dispatch(Engine& engine, protocol::TimeNs now, fi_addr_t number, Operation& op,
                       std::span<const protocol::Segment> segments, const protocol::SendOp& send) {
  Peer* peer = peer_of(engine, number);
  if (!peer) return no_peer(number);
  if (const protocol::Status over = peer_over(*peer); over != protocol::Status::pending) [[unlikely]] {
    if (op.kind != OperationKind::send || !op.has_context) return -error_of(over);
    protocol::Completion failed;
    failed.status = over;
    refusals_++;
    finish(engine, now, op, failed);
    return 0;
  }
  protocol::SendOp full = send;
  full.partner = peer->partner;
  full.session = peer->session;
  full.segments = segments;
  full.context = &op;
  if (peer_ready(*peer) && peer->waiting.empty()) [[likely]] {
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
  if (const int error = peer_connect(engine, now, *peer, number)) return error;
  peer->waiting.push_back(op);
  return 0;
}

}  // namespace omx::fabric
