// SPDX-License-Identifier: BSD-3-Clause
// Packets from another board of a peer (docs/explanation/rails.md).
#pragma once

#include <cstddef>

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Partner;
struct State;

// Makes a frame from another board of a peer that peer's own.
void rails_source(State& s, wire::Head& head, wire::Frame frame);
// Makes a CONNECT from another board of a peer that peer's own. False: no peer is known by the board that it
// was sent to.
bool rails_connect(State& s, wire::Head& head, const wire::Connect& packet);
void rails_probe_received(State& s, Partner& p, const wire::Probe& packet, std::size_t size);

}  // namespace omx::protocol
