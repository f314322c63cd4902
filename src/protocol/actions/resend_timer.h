// SPDX-License-Identifier: BSD-3-Clause
// Arms the timer that covers messages, connects, probes and pings of a peer.
#pragma once

namespace omx::protocol {

struct Peer;
struct State;

void retransmit_arm(State& s, Peer& p);
// Does the same after a message was sent. Most messages find a timer that ends early enough.
void retransmit_arm_lone(State& s, Peer& p);

}  // namespace omx::protocol
