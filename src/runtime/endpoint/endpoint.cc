// SPDX-License-Identifier: BSD-3-Clause
// Operations of an endpoint. Each takes the lock, reads the clock once, calls the engine, and hands the
// frames to the link.
#include "runtime/endpoint/endpoint.h"

#include <sched.h>

#include "base/no_cancel.h"
#include "protocol/state/peer.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

using protocol::OpError;

// Returns the conversation of an address: the peer's present one, or one that is over.
std::uint32_t conversation_of(const protocol::Peer& peer, const Address& address) {
  const std::uint32_t present = peer.session.conversation;
  if (present % kConversations == address_conversation(address)) [[likely]]
    return present;
  return present > 1 ? present - 1 : present + 1;
}

tl::unexpected<OpError> refused() {
  return tl::unexpected(OpError::bad_request);
}

}  // namespace

Endpoint::Endpoint(const Board& board, std::uint8_t id, std::uint32_t session, std::uint32_t slot,
                   const Settings& settings)
    : board_(board),
      id_(id),
      session_(session),
      slot_(slot),
      impl_(std::make_unique<Impl>(board, id, slot, settings)) {}

Endpoint::~Endpoint() = default;

Address Endpoint::address() const {
  return address_of(impl_->core.engine->self(), session_, impl_->core.engine->self()->session.conversation);
}

// Needs no lock, since a peer's identity never changes.
Address Endpoint::address_of(protocol::Peer* peer, std::uint32_t session, std::uint32_t conversation) const {
  return address_pack({peer->nic, peer->endpoint, session, slot_, peer->index, conversation});
}

Expected<Request*, OpError> Endpoint::connect(NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                              std::uint64_t match_info, void* context, bool forgotten,
                                              bool hidden) {
  if (impl_->foreign()) return refused();
  const Operation operation(*impl_);
  auto request = impl_->core.engine->connect(impl_->core.now, nic, endpoint, key, match_info, context,
                                             forgotten, hidden);
  impl_->core.out->flush();
  return request;
}

Expected<Request*, OpError> Endpoint::send(const Address& to, protocol::SendOp& op) {
  Impl& impl = *impl_;
  if (impl.foreign()) return refused();
  const Operation operation(impl);
  op.peer = impl.peer_of(to);
  if (!op.peer) return refused();
  op.session = address_session(to);
  op.conversation = conversation_of(*op.peer, to);
  op.advice.hold = impl.sends.goes_on(op.peer->index);
  if (op.segments.size() != 1 || op.segments.front().length > wire::kSmallMax) {
    op.advice.hold_announcement = impl.sends.may_hold();
    op.advice.copy_later = impl.spin_budget.yields();
  }
  auto request = impl.core.engine->send(impl.core.now, op);
  impl.core.out->flush();
  impl.sends.sent();
  return request;
}

Expected<Request*, OpError> Endpoint::receive(const protocol::ReceiveOp& op) {
  if (impl_->foreign()) return refused();
  Operation operation(*impl_, false);
  if (!impl_->core.engine->unexpected_empty()) operation.time();
  auto request = impl_->core.engine->receive(impl_->core.now, op);
  impl_->core.out->flush();
  return request;
}

Expected<bool, OpError> Endpoint::cancel(Request* request, bool complete) {
  if (impl_->foreign()) return refused();
  const Operation operation(*impl_);
  const auto cancelled = impl_->core.engine->cancel(request, complete);
  impl_->silence.found();
  return cancelled;
}

bool Endpoint::forget(Request* request) {
  if (impl_->foreign()) return false;
  const Operation operation(*impl_);
  impl_->core.copy_end();
  return impl_->core.engine->forget(request);
}

Expected<bool, OpError> Endpoint::buffered(Request* request) {
  if (impl_->foreign()) return refused();
  const Operation operation(*impl_);
  impl_->turn.run();
  impl_->core.copy_end();
  return impl_->core.engine->buffered(request);
}

bool Endpoint::set_timeout(Request* request, std::uint64_t ms) {
  if (impl_->foreign()) return false;
  const Operation operation(*impl_);
  return impl_->core.engine->set_timeout(request, deadline_after_ms(0, ms));
}

bool Endpoint::disconnect(const Address& address) {
  if (impl_->foreign()) return false;
  const Operation operation(*impl_);
  protocol::Peer* peer = impl_->peer_of(address);
  if (!peer) return false;
  const bool over = conversation_of(*peer, address) != peer->session.conversation;
  if (peer->known_otherwise(address_session(address)) || over)
    return true;  // that incarnation or conversation is gone; its successor counts as another peer
  impl_->core.engine->disconnect(impl_->core.now, peer);
  impl_->core.out->flush();
  return true;
}

void Endpoint::set_unexpected_handler(const UnexpectedHandler& handler) {
  if (impl_->foreign()) return;
  const Operation operation(*impl_);
  impl_->unexpected.handler_is(handler);
}

void Endpoint::end_background() {
  if (impl_->foreign()) return;
  const NoCancel no_cancel;
  impl_->progress.stop();
}

void Endpoint::end_background_at_exit(TimeNs patience) {
  if (impl_->foreign() || in_handler()) return;
  const NoCancel no_cancel;
  impl_->progress.stop_at_exit(patience);
}

bool Endpoint::in_handler() const {
  return impl_->progression.in_own_handler();
}

bool Endpoint::foreign() const {
  return impl_->foreign();
}

Endpoint::Pin::Pin(Endpoint& endpoint) : endpoint_(endpoint) {
  endpoint_.impl_->lifecycle.pin();
}

Endpoint::Pin::~Pin() {
  endpoint_.impl_->lifecycle.unpin();
}

// --- completion
// ----------------------------------------------------------------------------------------------

namespace {

// Polls once with the lock held. On an oversubscribed host, a poll that finds nothing gives the processor
// away, without the lock.
template <class Poll>
auto poll_for(Endpoint::Impl& impl, Poll poll) -> decltype(poll()) {
  {
    const Operation operation(impl, false);
    const auto found = poll();
    if (!impl.polling.yield_due(static_cast<bool>(found))) return found;
  }
  ::sched_yield();
  return {};
}

}  // namespace

WaitOutcome Endpoint::test(Request* request, Completion& completion) {
  if (impl_->foreign()) return WaitOutcome::timed_out;
  bool held = true;
  const bool ended = poll_for(*impl_, [&] {
    held = impl_->core.engine->held(request);
    if (!held) return true;
    if (!impl_->core.engine->done(request)) {
      impl_->polling.turn();
      // A handler may have run meanwhile, and another thread may have consumed the request.
      if (!impl_->core.engine->held(request) || !impl_->core.engine->done(request)) return false;
    } else {
      impl_->found_turn();
    }
    impl_->core.engine->consume(request, completion);
    return true;
  });
  if (!held) return WaitOutcome::no_request;
  return ended ? WaitOutcome::done : WaitOutcome::timed_out;
}

bool Endpoint::test_any(std::uint64_t match_info, std::uint64_t match_mask, Completion& completion) {
  if (impl_->foreign()) return false;
  return poll_for(*impl_, [&] {
    Request* request = impl_->core.engine->find_done(match_info, match_mask);
    if (request) {
      impl_->found_turn();
    } else {
      impl_->polling.turn();
      request = impl_->core.engine->find_done(match_info, match_mask);
    }
    if (!request) return false;
    completion = impl_->core.engine->consume(request);
    return true;
  });
}

Request* Endpoint::peek() {
  if (impl_->foreign()) return nullptr;
  return poll_for(*impl_, [&] {
    impl_->polling.turn();
    return impl_->core.engine->peek_done();
  });
}

bool Endpoint::probe(std::uint64_t match_info, std::uint64_t match_mask, protocol::Arrival& arrival) {
  if (impl_->foreign()) return false;
  return poll_for(*impl_, [&] {
    impl_->polling.turn();
    const auto found = impl_->core.engine->probe(match_info, match_mask);
    if (found) arrival = *found;
    return found.has_value();
  });
}

void* Endpoint::context_of(Request* request) {
  if (impl_->foreign()) return nullptr;
  const Operation operation(*impl_);
  return impl_->core.engine->context_of(request);
}

WaitOutcome Endpoint::wait(Request* request, std::uint64_t timeout_ms, Completion& completion) {
  if (impl_->foreign()) return WaitOutcome::woken;
  WaitPredicate predicate;
  predicate.kind = WaitPredicate::Kind::request;
  predicate.request = request;
  predicate.completion = &completion;
  const WaitOutcome outcome = impl_->waiting.wait(predicate, timeout_ms);
  // Another thread consumed the completion while this one waited.
  return outcome == WaitOutcome::done && !predicate.request ? WaitOutcome::woken : outcome;
}

WaitOutcome Endpoint::wait_any(std::uint64_t match_info, std::uint64_t match_mask, std::uint64_t timeout_ms,
                               Completion& completion) {
  if (impl_->foreign()) return WaitOutcome::woken;
  WaitPredicate predicate;
  predicate.kind = WaitPredicate::Kind::any;
  predicate.match_info = match_info;
  predicate.match_mask = match_mask;
  predicate.completion = &completion;
  return impl_->waiting.wait(predicate, timeout_ms);
}

WaitOutcome Endpoint::wait_peek(std::uint64_t timeout_ms, Request*& request) {
  if (impl_->foreign()) return WaitOutcome::woken;
  WaitPredicate predicate;
  predicate.kind = WaitPredicate::Kind::peek;
  const WaitOutcome outcome = impl_->waiting.wait(predicate, timeout_ms);
  if (outcome == WaitOutcome::done) request = predicate.request;
  return outcome;
}

WaitOutcome Endpoint::wait_probe(std::uint64_t match_info, std::uint64_t match_mask, std::uint64_t timeout_ms,
                                 protocol::Arrival& arrival) {
  if (impl_->foreign()) return WaitOutcome::woken;
  WaitPredicate predicate;
  predicate.kind = WaitPredicate::Kind::probe;
  predicate.match_info = match_info;
  predicate.match_mask = match_mask;
  predicate.arrival = &arrival;
  return impl_->waiting.wait(predicate, timeout_ms);
}

void Endpoint::wakeup() {
  if (impl_->foreign()) return;
  const Operation operation(*impl_);
  impl_->waiters.wake_all();
}

void Endpoint::progress() {
  if (impl_->foreign()) return;
  const Operation operation(*impl_);
  impl_->progress.polled();
  impl_->turn.run();
}

void Endpoint::disable_progression() {
  if (impl_->foreign()) return;
  const Operation operation(*impl_);
  impl_->disable();
}

void Endpoint::reenable_progression() {
  if (impl_->foreign()) return;
  const Operation operation(*impl_);
  impl_->reenable();
}

// --- facts
// ---------------------------------------------------------------------------------------------------

std::optional<void*> Endpoint::address_context(const Address& address) {
  if (impl_->foreign()) return std::nullopt;
  const std::lock_guard guard(impl_->core.lock);
  const protocol::Peer* peer = impl_->peer_of(address);
  if (!peer) return std::nullopt;
  return protocol::peer_context(peer);
}

bool Endpoint::set_address_context(const Address& address, void* context) {
  if (impl_->foreign()) return false;
  const std::lock_guard guard(impl_->core.lock);
  protocol::Peer* peer = impl_->peer_of(address);
  if (peer) protocol::peer_set_context(peer, context);
  return peer != nullptr;
}

std::vector<protocol::PeerInfo> Endpoint::peers() {
  std::vector<protocol::PeerInfo> infos;
  if (impl_->foreign()) return infos;
  const std::lock_guard guard(impl_->core.lock);
  for (std::uint32_t i = 0; i < impl_->core.engine->peer_count(); i++) {
    if (const protocol::Peer* peer = impl_->core.engine->peer_at(i))
      infos.push_back(protocol::peer_info(peer));
  }
  return infos;
}

protocol::Counters Endpoint::counters() {
  if (impl_->foreign()) return {};
  const std::lock_guard guard(impl_->core.lock);
  return impl_->core.segment->counters().engine;
}

link::LinkCounters Endpoint::link_counters() {
  if (impl_->foreign()) return {};
  const std::lock_guard guard(impl_->core.lock);
  return impl_->core.link->counters();
}

protocol::Endpoint::Memory Endpoint::memory() {
  if (impl_->foreign()) return {};
  const std::lock_guard guard(impl_->core.lock);
  return impl_->core.engine->memory();
}

std::uint32_t Endpoint::eager_max() {
  if (impl_->foreign()) return 0;
  const std::lock_guard guard(impl_->core.lock);
  return impl_->core.engine->eager_max(impl_->core.engine->self());
}

std::string Endpoint::silence_advice(NicId nic) {
  if (impl_->foreign()) return {};
  const Operation operation(*impl_);
  return impl_->silence.advice(nic);
}

std::string Endpoint::peer_text(NicId nic, std::uint8_t endpoint) {
  if (impl_->foreign()) return {};
  const Operation operation(*impl_);
  return impl_->names.text(nic, endpoint);
}

const Settings& Endpoint::settings() const {
  return impl_->core.settings;
}

}  // namespace omx::runtime
