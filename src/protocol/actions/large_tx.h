// SPDX-License-Identifier: BSD-3-Clause
// Sends RNDV and NOTIFY, which begin and end a large or synchronous message (docs/spec/protocol.md 8.1).
#pragma once

namespace omx::protocol {

struct Request;
struct State;

void rndv_transmit(State& s, Request& r);
void notify_transmit(State& s, Request& r);

}  // namespace omx::protocol
