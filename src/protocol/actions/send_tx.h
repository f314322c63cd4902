// SPDX-License-Identifier: BSD-3-Clause
// Sends one numbered message, for the first time or again.
#pragma once

#include "protocol/counters.h"

namespace omx::protocol {

struct Request;
struct State;

void send_transmit(State& s, Request& r);
// Sends a message again and counts why, unless the earlier one still waits to be read.
void send_retransmit(State& s, Request& r, Counter why);

}  // namespace omx::protocol
