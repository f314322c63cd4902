// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/engine_access.h"

#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

EngineAccess::EngineAccess(Endpoint& endpoint) : impl_(endpoint.impl()) {
  impl_.core.lock.lock();
  impl_.core.calls++;
}

EngineAccess::~EngineAccess() {
  impl_.feed.run();
  impl_.core.out->flush();
  if (impl_.core.lock.depth() == 1) impl_.waking.wake_others();
  impl_.core.lock.unlock();
}

protocol::Endpoint& EngineAccess::engine() {
  return *impl_.core.engine;
}

protocol::TimeNs EngineAccess::now() {
  if (!timed_ && impl_.core.lock.depth() == 1) impl_.core.now = impl_.core.clock.now();
  timed_ = true;
  return impl_.core.now;
}

bool EngineAccess::poll(bool look) {
  return look ? impl_.polling.turn() : impl_.polling.turn(0);
}

void EngineAccess::turn() {
  now();
  impl_.progress.polled();
  impl_.turn.run();
}

bool EngineAccess::burst_goes_on(std::uint64_t to) {
  now();
  return impl_.sends.goes_on(to);
}

bool EngineAccess::may_hold() {
  return impl_.sends.may_hold();
}

void EngineAccess::sent() {
  now();
  impl_.sends.sent();
}

void EngineAccess::signal() {
  impl_.core.signals++;
}

void sink_set(Endpoint& endpoint, CompletionSink* sink) {
  Endpoint::Impl& impl = endpoint.impl();
  const std::lock_guard guard(impl.core.lock);
  impl.core.sink = sink;
}

WaitOutcome wait_until(Endpoint& endpoint, bool (*ready)(void*), void* context, std::uint64_t timeout_ms) {
  if (endpoint.foreign()) return WaitOutcome::woken;
  WaitPredicate predicate;
  predicate.kind = WaitPredicate::Kind::ready;
  predicate.ready = ready;
  predicate.context = context;
  return endpoint.impl().waiting.wait(predicate, timeout_ms);
}

bool hand_over(Endpoint& endpoint) {
  if (endpoint.foreign()) return false;
  Endpoint::Impl& impl = endpoint.impl();
  const std::lock_guard guard(impl.core.lock);
  return impl.progress.invite();
}

}  // namespace omx::runtime
