// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "protocol/endpoint.h"

namespace omx::runtime {

// Decides about a message that no receive waits for. Called without the endpoint's lock: other threads may
// use the endpoint meanwhile, but no further message arrives until it returns. May call the endpoint itself,
// but not close it. Its members are copied before each call, so the handler may be replaced or removed at
// any time.
struct UnexpectedHandler {
  protocol::HandlerAction (*call)(const UnexpectedHandler& self, const protocol::Arrival& arrival) = nullptr;
  void* owner = nullptr;
  void* context = nullptr;
  void (*function)() = nullptr;  // of the type that `call` casts it to
};

}  // namespace omx::runtime
