// SPDX-License-Identifier: BSD-3-Clause
// Sends messages again and gives silent peers up (docs/spec/protocol.md 6). One lazy timer per peer covers
// its messages, connects, MTU probe and pings.
#pragma once

namespace omx::protocol {

struct Peer;
struct State;

void retransmit_timer(State& s, Peer& p);

}  // namespace omx::protocol
