// SPDX-License-Identifier: BSD-3-Clause
// Ends sends: acknowledged, or failed with their conversation.
#pragma once

#include "protocol/types.h"

namespace omx::protocol {

struct State;

// Ends a send that the peer acknowledged, or lets it go on.
void send_acknowledged(State& s, Request& r);
// Ends a send of a conversation that is over. Counts it, and keeps what Endpoint::lost_take() reports.
void send_fail(State& s, Request& r, Status status);

}  // namespace omx::protocol
