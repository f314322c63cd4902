// SPDX-License-Identifier: BSD-3-Clause
// Keeps paths between boards working: probes them, suspects them, and asks by others for data on their way by
// a failed one (docs/explanation/rails.md).
#pragma once

#include <cstdint>

#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Pull;
struct PullBlock;
struct State;

void rails_home_set(State& s, Peer& p, std::uint8_t rail);
// Suspects a path by which nothing comes while another one works. Asks by other boards for the data that are
// on their way by it.
void rails_suspect(State& s, Peer& p, std::uint8_t rail, TimeNs silent_since);
// Probes paths that are not known to work and are due.
void rails_tend(State& s, Peer& p);
// Doubts the home path, because a packet that left by it at `since` was not answered.
void rails_doubt(State& s, Peer& p, TimeNs since);
// Doubts the home path because `oldest`, which is sent again, was not answered.
void rails_doubt_of(State& s, Peer& p, const Request& oldest);
// Asks by another board for data that are long overdue.
void rails_late(State& s, Pull& pull, PullBlock& block);
// Notes that the interface of one of our boards lost its carrier, or has it again.
void rail_carrier(State& s, unsigned rail, bool up);
// Notes that something came from a peer by board `rx_rail`. `follows`: the peer believes that we listen
// there.
void rails_heard(State& s, Peer& p, bool follows);
void rails_agree(State& s, Peer& p, const wire::ConnectExt& ext);

}  // namespace omx::protocol
