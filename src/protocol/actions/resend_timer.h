// SPDX-License-Identifier: BSD-3-Clause
// Arms the timer that covers messages, connects, probes and pings of a peer.
#pragma once

namespace omx::protocol {

struct Peer;
struct State;

void retransmit_arm(State& s, Peer& p);
// Does the same after a message was sent. Most messages find a timer that ends early enough.
void retransmit_arm_lone(State& s, Peer& p);
// Moves a timer that ends too early to when it is due, so that a sleeper need not wake for it. Returns false
// if it is due then, or covers more than one message that was sent once.
bool retransmit_settle(State& s, Peer& p);

}  // namespace omx::protocol
