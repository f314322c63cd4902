// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/unexpected_calls.h"

#include <cassert>

namespace omx::runtime {

void UnexpectedCalls::handler_is(const UnexpectedHandler& handler) {
  handler_ = handler;
  core_.engine->set_unexpected_handler(handler.call ? entry : nullptr, this);
}

protocol::HandlerAction UnexpectedCalls::entry(void* context, const protocol::Arrival& arrival) {
  return static_cast<UnexpectedCalls*>(context)->call(arrival);
}

// Called by the engine in the middle of a delivery, or of a send to oneself. The lock is released, since the
// handler may take locks of the application that other threads hold while they call us
// (docs/spec/protocol.md 10). The engine expects any call meanwhile, except further frames.
protocol::HandlerAction UnexpectedCalls::call(const protocol::Arrival& arrival) {
  assert(core_.lock.owned());
  const bool nested = progression_.in_own_handler();
  if (!nested) progression_.handler_wait();
  const UnexpectedHandler handler = handler_;
  if (!handler.call) return protocol::HandlerAction::proceed;
  progression_.handler_enter();
  burst_.end();           // no thread polls meanwhile
  waking_.wake_others();  // those that this turn has concerned so far
  const unsigned depth = core_.lock.release();
  const protocol::HandlerAction action = handler.call(handler, arrival);
  core_.lock.retake(depth);
  if (nested) return action;
  progression_.handler_leave();
  waiters_.wake_sleeper();  // the sleeper did not poll the link
  return action;
}

}  // namespace omx::runtime
