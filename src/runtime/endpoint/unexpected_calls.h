// SPDX-License-Identifier: BSD-3-Clause
// Calls the application's handler of unexpected messages.
#pragma once

#include "runtime/endpoint/burst.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/progression.h"
#include "runtime/endpoint/unexpected_handler.h"
#include "runtime/endpoint/waking.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

class UnexpectedCalls {
 public:
  UnexpectedCalls(EndpointCore& core, Progression& progression, Burst& burst, Waking& waking,
                  Waiters& waiters)
      : core_(core), progression_(progression), burst_(burst), waking_(waking), waiters_(waiters) {}

  void handler_is(const UnexpectedHandler& handler);

 private:
  static protocol::HandlerAction entry(void* context, const protocol::Arrival& arrival);
  protocol::HandlerAction call(const protocol::Arrival& arrival);

  EndpointCore& core_;
  Progression& progression_;
  Burst& burst_;
  Waking& waking_;
  Waiters& waiters_;
  UnexpectedHandler handler_;
};

}  // namespace omx::runtime
