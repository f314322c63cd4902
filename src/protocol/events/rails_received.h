// SPDX-License-Identifier: BSD-3-Clause
// Packets from another board of a peer (docs/explanation/rails.md).
#pragma once

#include <cstddef>

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct State;

// Replaces the source of a frame from another board of a peer by that peer's own address.
void rails_source(State& s, wire::Head& head, wire::Frame frame);
// Replaces the source of a CONNECT from another board of a peer by that peer's own address. Returns false for
// a request at a further board of ours from a sender that uses no rails with us.
bool rails_connect(State& s, wire::Head& head, const wire::Connect& packet);
void rails_probe_received(State& s, Peer& p, const wire::Probe& packet, std::size_t size);

}  // namespace omx::protocol
