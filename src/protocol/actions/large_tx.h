// SPDX-License-Identifier: BSD-3-Clause
// Sends RNDV, with which a sender announces a large or synchronous message, and its unscheduled data. Sends
// NOTIFY, with which the receiver ends it (docs/spec/protocol.md 8.1, 8.2).
#pragma once

namespace omx::protocol {

struct Request;
struct State;

void rndv_transmit(State& s, Request& r);
void notify_transmit(State& s, Request& r);

}  // namespace omx::protocol
