// SPDX-License-Identifier: BSD-3-Clause
// Parks messages that the receiver asked for without their data (docs/reference/wire.md 19).
#pragma once

namespace omx::protocol {

struct Peer;
struct Request;
struct State;

// Sends the envelopes that the peer asks for, from the first message on that it misses.
void park_unacked(State& s, Peer& p);
// Notes that a large message was acknowledged and waits for its receive.
void park_waiting(State& s, Request& r);

}  // namespace omx::protocol
