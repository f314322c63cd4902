// SPDX-License-Identifier: BSD-3-Clause
// Operations: each takes the lock, reads the clock once, calls the engine, and hands the frames to the link.
#include "runtime/endpoint/endpoint.h"

#include <sched.h>

#include "base/no_cancel.h"
#include "protocol/partner.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

using protocol::OpError;

// That of an address: the partner's present one, or one that is over.
std::uint32_t conversation_of(const protocol::Partner& partner, const AddressParts& parts) {
  const std::uint32_t present = partner.conversation;
  if (present % kConversations == parts.conversation) return present;
  return present > 1 ? present - 1 : present + 1;
}

tl::unexpected<OpError> refused() {
  return tl::unexpected(OpError::bad_request);
}

}  // namespace

Endpoint::~Endpoint() = default;

protocol::Partner* Endpoint::Impl::partner_of(const AddressParts& parts) {
  if (parts.slot != slot_ || parts.partner >= engine->partner_count()) return nullptr;
  protocol::Partner* partner = engine->partner_at(parts.partner);
  if (!partner || partner->nic != parts.nic || partner->endpoint != parts.endpoint) return nullptr;
  return partner;
}

Address Endpoint::address() const {
  return address_of(impl_->engine->self(), session_, impl_->engine->self()->conversation);
}

// Without the lock: a partner's identity never changes.
Address Endpoint::address_of(protocol::Partner* partner, std::uint32_t session,
                             std::uint32_t conversation) const {
  return address_pack({partner->nic, partner->endpoint, session, slot_, partner->index, conversation});
}

Expected<Request*, OpError> Endpoint::connect(NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                              std::uint64_t match_info, void* context, bool forgotten,
                                              bool hidden) {
  if (impl_->foreign()) return refused();
  const Operation operation(*impl_);
  auto request =
      impl_->engine->connect(impl_->now, nic, endpoint, key, match_info, context, forgotten, hidden);
  impl_->out->flush();
  return request;
}

Expected<Request*, OpError> Endpoint::send(const Address& to, protocol::SendOp op) {
  if (impl_->foreign()) return refused();
  const AddressParts parts = address_unpack(to);
  const Operation operation(*impl_);
  op.partner = impl_->partner_of(parts);
  if (!op.partner) return refused();
  op.session = parts.session;
  op.conversation = conversation_of(*op.partner, parts);
  op.hold = impl_->burst_goes_on();
  op.hold_announcement = impl_->may_hold();
  op.copy_later = impl_->yields();
  auto request = impl_->engine->send(impl_->now, op);
  impl_->out->flush();
  impl_->sent();
  return request;
}

Expected<Request*, OpError> Endpoint::receive(const protocol::ReceiveOp& op) {
  if (impl_->foreign()) return refused();
  Operation operation(*impl_, false);
  if (!impl_->engine->unexpected_empty()) operation.time();
  auto request = impl_->engine->receive(impl_->now, op);
  impl_->out->flush();
  return request;
}

Expected<bool, OpError> Endpoint::cancel(Request* request, bool complete) {
  if (impl_->foreign()) return refused();
  const Operation operation(*impl_);
  const auto cancelled = impl_->engine->cancel(request, complete);
  impl_->silence_found();
  return cancelled;
}

bool Endpoint::forget(Request* request) {
  if (impl_->foreign()) return false;
  const Operation operation(*impl_);
  impl_->copy_end();
  return impl_->engine->forget(request);
}

Expected<bool, OpError> Endpoint::buffered(Request* request) {
  if (impl_->foreign()) return refused();
  const Operation operation(*impl_);
  impl_->turn();
  impl_->copy_end();
  return impl_->engine->buffered(request);
}

bool Endpoint::set_timeout(Request* request, std::uint64_t ms) {
  if (impl_->foreign()) return false;
  const Operation operation(*impl_);
  return impl_->engine->set_timeout(request, deadline_after_ms(0, ms));
}

bool Endpoint::disconnect(const Address& address) {
  if (impl_->foreign()) return false;
  const Operation operation(*impl_);
  const AddressParts parts = address_unpack(address);
  protocol::Partner* partner = impl_->partner_of(parts);
  if (!partner) return false;
  const bool over = conversation_of(*partner, parts) != partner->conversation;
  if (partner->known_otherwise(parts.session) || over)
    return true;  // that instance or conversation is gone; what followed is another peer
  impl_->engine->disconnect(impl_->now, partner);
  impl_->out->flush();
  return true;
}

void Endpoint::set_unexpected_handler(const UnexpectedHandler& handler) {
  if (impl_->foreign()) return;
  const Operation operation(*impl_);
  impl_->handler_set(handler);
}

void Endpoint::end_background() {
  if (impl_->foreign()) return;
  const NoCancel no_cancel;
  impl_->helper_stop();
}

bool Endpoint::in_handler() const {
  return impl_->in_own_handler();
}

bool Endpoint::foreign() const {
  return impl_->foreign();
}

Endpoint::Pin::Pin(Endpoint& endpoint) : endpoint_(endpoint) {
  endpoint_.impl_->pin();
}

Endpoint::Pin::~Pin() {
  endpoint_.impl_->unpin();
}

// --- completion
// ----------------------------------------------------------------------------------------------

namespace {

// One look with the lock held; in a crowd a look in vain gives the processor away, without the lock.
template <class Look>
auto poll_for(Endpoint::Impl& impl, Look look) -> decltype(look()) {
  {
    const Operation operation(impl, false);
    const auto found = look();
    if (!impl.yield_due(static_cast<bool>(found))) return found;
  }
  ::sched_yield();
  return {};
}

}  // namespace

WaitOutcome Endpoint::test(Request* request, Completion& completion) {
  if (impl_->foreign()) return WaitOutcome::timed_out;
  bool held = true;
  const bool ended = poll_for(*impl_, [&] {
    held = impl_->engine->held(request);
    if (!held) return true;
    if (!impl_->engine->done(request)) {
      impl_->poll_turn();
      // A handler may have run, and another thread taken it.
      if (!impl_->engine->held(request) || !impl_->engine->done(request)) return false;
    } else {
      impl_->found_turn();
    }
    completion = impl_->engine->consume(request);
    return true;
  });
  if (!held) return WaitOutcome::no_request;
  return ended ? WaitOutcome::done : WaitOutcome::timed_out;
}

bool Endpoint::test_any(std::uint64_t match_info, std::uint64_t match_mask, Completion& completion) {
  if (impl_->foreign()) return false;
  return poll_for(*impl_, [&] {
    Request* request = impl_->engine->find_done(match_info, match_mask);
    if (request) {
      impl_->found_turn();
    } else {
      impl_->poll_turn();
      request = impl_->engine->find_done(match_info, match_mask);
    }
    if (!request) return false;
    completion = impl_->engine->consume(request);
    return true;
  });
}

Request* Endpoint::peek() {
  if (impl_->foreign()) return nullptr;
  return poll_for(*impl_, [&] {
    impl_->poll_turn();
    return impl_->engine->peek_done();
  });
}

bool Endpoint::probe(std::uint64_t match_info, std::uint64_t match_mask, protocol::Arrival& arrival) {
  if (impl_->foreign()) return false;
  return poll_for(*impl_, [&] {
    impl_->poll_turn();
    const auto found = impl_->engine->probe(match_info, match_mask);
    if (found) arrival = *found;
    return found.has_value();
  });
}

void* Endpoint::context_of(Request* request) {
  if (impl_->foreign()) return nullptr;
  const Operation operation(*impl_);
  return impl_->engine->context_of(request);
}

WaitOutcome Endpoint::wait(Request* request, std::uint64_t timeout_ms, Completion& completion) {
  if (impl_->foreign()) return WaitOutcome::woken;
  Want want;
  want.kind = Want::Kind::request;
  want.request = request;
  want.completion = &completion;
  const WaitOutcome outcome = impl_->wait(want, timeout_ms);
  // Another thread took it while this one waited.
  return outcome == WaitOutcome::done && !want.request ? WaitOutcome::woken : outcome;
}

WaitOutcome Endpoint::wait_any(std::uint64_t match_info, std::uint64_t match_mask, std::uint64_t timeout_ms,
                               Completion& completion) {
  if (impl_->foreign()) return WaitOutcome::woken;
  Want want;
  want.kind = Want::Kind::any;
  want.match_info = match_info;
  want.match_mask = match_mask;
  want.completion = &completion;
  return impl_->wait(want, timeout_ms);
}

WaitOutcome Endpoint::wait_peek(std::uint64_t timeout_ms, Request*& request) {
  if (impl_->foreign()) return WaitOutcome::woken;
  Want want;
  want.kind = Want::Kind::peek;
  const WaitOutcome outcome = impl_->wait(want, timeout_ms);
  if (outcome == WaitOutcome::done) request = want.request;
  return outcome;
}

WaitOutcome Endpoint::wait_probe(std::uint64_t match_info, std::uint64_t match_mask, std::uint64_t timeout_ms,
                                 protocol::Arrival& arrival) {
  if (impl_->foreign()) return WaitOutcome::woken;
  Want want;
  want.kind = Want::Kind::probe;
  want.match_info = match_info;
  want.match_mask = match_mask;
  want.arrival = &arrival;
  return impl_->wait(want, timeout_ms);
}

void Endpoint::wakeup() {
  if (impl_->foreign()) return;
  const Operation operation(*impl_);
  impl_->wake_all();
}

void Endpoint::progress() {
  if (impl_->foreign()) return;
  const Operation operation(*impl_);
  impl_->helper_notice();
  impl_->turn();
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
  const std::lock_guard guard(impl_->lock);
  const protocol::Partner* partner = impl_->partner_of(address_unpack(address));
  if (!partner) return std::nullopt;
  return protocol::partner_context(partner);
}

bool Endpoint::set_address_context(const Address& address, void* context) {
  if (impl_->foreign()) return false;
  const std::lock_guard guard(impl_->lock);
  protocol::Partner* partner = impl_->partner_of(address_unpack(address));
  if (partner) protocol::partner_set_context(partner, context);
  return partner != nullptr;
}

std::vector<protocol::PartnerInfo> Endpoint::partners() {
  std::vector<protocol::PartnerInfo> infos;
  if (impl_->foreign()) return infos;
  const std::lock_guard guard(impl_->lock);
  for (std::uint32_t i = 0; i < impl_->engine->partner_count(); i++) {
    if (const protocol::Partner* partner = impl_->engine->partner_at(i))
      infos.push_back(protocol::partner_info(partner));
  }
  return infos;
}

protocol::Counters Endpoint::counters() {
  if (impl_->foreign()) return {};
  const std::lock_guard guard(impl_->lock);
  return impl_->segment->counters().engine;
}

link::LinkCounters Endpoint::link_counters() {
  if (impl_->foreign()) return {};
  const std::lock_guard guard(impl_->lock);
  return impl_->link->counters();
}

protocol::Endpoint::Memory Endpoint::memory() {
  if (impl_->foreign()) return {};
  const std::lock_guard guard(impl_->lock);
  return impl_->engine->memory();
}

std::uint32_t Endpoint::eager_max() {
  if (impl_->foreign()) return 0;
  const std::lock_guard guard(impl_->lock);
  return impl_->engine->eager_max(impl_->engine->self());
}

const Settings& Endpoint::settings() const {
  return impl_->settings();
}

}  // namespace omx::runtime
