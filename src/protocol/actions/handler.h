// SPDX-License-Identifier: BSD-3-Clause
// Calls the application's handler of unexpected messages.
#pragma once

#include "protocol/types.h"

namespace omx::protocol {

struct Arrival;
struct State;

// Calls the application's handler, which may take long. No packet waits for others to share a frame
// meanwhile.
HandlerAction handler_call(State& s, const Arrival& arrival);

}  // namespace omx::protocol
