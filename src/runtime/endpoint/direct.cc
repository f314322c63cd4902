// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/direct.h"

#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

Direct::Direct(Endpoint& endpoint) : impl_(endpoint.impl()) {
  impl_.lock.lock();
  impl_.used();
}

Direct::~Direct() {
  impl_.sink_run();
  impl_.out->flush();
  if (impl_.lock.depth() == 1) impl_.wake_others();
  impl_.lock.unlock();
}

protocol::Endpoint& Direct::engine() {
  return *impl_.engine;
}

protocol::TimeNs Direct::now() {
  if (!timed_ && impl_.lock.depth() == 1) impl_.now = impl_.clock.now();
  timed_ = true;
  return impl_.now;
}

bool Direct::poll(bool look) {
  return look ? impl_.poll_turn() : impl_.poll_turn(0);
}

void Direct::turn() {
  now();
  impl_.helper_notice();
  impl_.turn();
}

bool Direct::burst_goes_on() {
  now();
  return impl_.burst_goes_on();
}

bool Direct::may_hold() {
  return impl_.may_hold();
}

void Direct::sent() {
  now();
  impl_.sent();
}

void Direct::signal() {
  impl_.signals++;
}

void sink_set(Endpoint& endpoint, CompletionSink* sink) {
  Endpoint::Impl& impl = endpoint.impl();
  const std::lock_guard guard(impl.lock);
  impl.sink = sink;
}

WaitOutcome wait_until(Endpoint& endpoint, bool (*ready)(void*), void* context, std::uint64_t timeout_ms) {
  if (endpoint.foreign()) return WaitOutcome::woken;
  Want want;
  want.kind = Want::Kind::ready;
  want.ready = ready;
  want.context = context;
  return endpoint.impl().wait(want, timeout_ms);
}

bool hand_over(Endpoint& endpoint) {
  if (endpoint.foreign()) return false;
  Endpoint::Impl& impl = endpoint.impl();
  const std::lock_guard guard(impl.lock);
  return impl.helper_invite();
}

}  // namespace omx::runtime
