// SPDX-License-Identifier: BSD-3-Clause
// Timers: what is sent again, and when a silent partner is given up (docs/spec/protocol.md 6). One lazy timer
// per partner covers its messages, connects, MTU probe and pings.
#pragma once

namespace omx::protocol {

struct Partner;
struct State;

void retransmit_timer(State& s, Partner& p);

}  // namespace omx::protocol
