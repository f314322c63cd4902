// SPDX-License-Identifier: BSD-3-Clause
// Acknowledgements that are owed to a peer.
#pragma once

namespace omx::protocol {

struct Peer;
struct State;

// Returns whether so much is owed that an extended sender may wait for room in its window of messages or
// frames.
bool ack_much_owed(const State& s, const Peer& p);
void ack_immediately(State& s, Peer& p);
// Acknowledges at once, and wakes the peer for it.
void ack_as_asked(State& s, Peer& p);
void ack_piggybacked(Peer& p);  // another packet has just carried the acknowledgement

}  // namespace omx::protocol
