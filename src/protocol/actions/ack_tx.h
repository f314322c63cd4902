// SPDX-License-Identifier: BSD-3-Clause
// Sends acknowledgements. Between extended peers TRUC carries a bitmap of the messages that arrived early.
#pragma once

namespace omx::protocol {

struct Peer;
struct State;

void ack_needed(State& s, Peer& p);  // notes that the next wanted number moved
void ack_later(State& s, Peer& p);   // after the usual delay, unless one is sent before
void ack_transmit(State& s, Peer& p);
void ack_flush(State& s, bool delayed_too);

}  // namespace omx::protocol
