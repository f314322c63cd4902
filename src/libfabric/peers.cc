// SPDX-License-Identifier: BSD-3-Clause
// Addresses become partners when they are first used. A message to one that is not connected waits here, and
// the connection is made behind the application's back.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.h"
#include "libfabric/endpoint.h"
#include "libfabric/provider.h"
#include "runtime/board/resolver.h"

namespace omx::fabric {

namespace {

// `advice`: of the runtime. `ended`: with what is at that address a conversation was ended.
std::string no_connection_reason(protocol::Status status, const std::string& advice, bool ended,
                                 protocol::TimeNs patience) {
  if (ended)
    return "its conversation with this process has ended; insert its address again (fi_av_insert) to begin "
           "another one";
  switch (status) {
    case protocol::Status::bad_endpoint:
    case protocol::Status::endpoint_closed:
    case protocol::Status::bad_session:
      return "no such endpoint is open there any more, as its process has ended or closed it";
    case protocol::Status::bad_key:
      return "it is open, but not by a program that uses libfabric";
    case protocol::Status::no_resources:
      return "it has no room for another peer";
    default:
      if (!advice.empty())
        return fmt::format("no answer within {} ms (FI_OMX_CONNECT_TIMEOUT); unless that host is down: {}",
                           patience / protocol::kMillisecond, advice);
      return fmt::format(
          "no answer within {} ms (FI_OMX_CONNECT_TIMEOUT): its process has ended, its host is down, or the "
          "two interfaces are not on one network (name others with FI_OMX_IFACE)",
          patience / protocol::kMillisecond);
  }
}

protocol::TimeNs connect_patience() {
  return parameters().connect_ms * protocol::kMillisecond;
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
  if (closing_) return;
  try {
    ended_[news.partner] = {addresses_->next_generation(), news.session, news.status};
  } catch (const std::exception& e) {
    warn(FI_LOG_EP_CTRL, e.what());
  }
}

void Endpoint::peer_unreached(const protocol::PeerNews& news) {
  const protocol::TimeNs patience = domain_.process().settings().protocol.peer_timeout;
  unreached_tell(news.partner, news.status, false, std::min(connect_patience(), patience));
}

// What waits for the connection may have no request to fail, or one whose error says little: once for each
// peer at the default level, too.
void Endpoint::unreached_tell(const protocol::Partner* partner, protocol::Status status, bool ended,
                              protocol::TimeNs patience) {
  try {
    const protocol::PartnerInfo to = protocol::partner_info(partner);
    const NicId own = domain_.board().interface.nic;
    const std::string text =
        fmt::format("{}: no connection from {} to {}: {}", domain_.board().interface.name,
                    runtime::by_udp(own) ? runtime::address_name(own) : mac_format(own),
                    endpoint_->peer_text(to.nic, to.endpoint),
                    no_connection_reason(status, endpoint_->silence_advice(to.nic), ended, patience));
    warn(FI_LOG_EP_CTRL, text);
    if (!closing_ && unreached_.insert(partner).second) log(LogLevel::warn, "{}", text);
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
  engine.set_timeout(*request, connect_patience());
  peer.connecting = true;
  return 0;
}

void Endpoint::peer_connected(Engine& engine, protocol::TimeNs now, Operation& connect,
                              const protocol::Completion& c) {
  Peer& peer = *peers_[connect.peer];
  peer.connecting = false;
  if (c.status != protocol::Status::success) {
    unreached_tell(peer.partner, c.status, peer_shunned(peer) != kAnySession, connect_patience());
    return peer_fail(engine, now, peer, c.status);
  }
  unreached_.erase(peer.partner);
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
