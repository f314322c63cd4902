// SPDX-License-Identifier: BSD-3-Clause
// Packets of messages arrive, alone or several in a frame.
#pragma once

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct ExpectedFrame;
struct State;

void rx_message(State& s, const wire::Head& head, wire::Frame frame, bool from_early);
// Whether a frame is the expected fragment; if so, takes it whose data are in their place.
bool medium_is(State& s, const ExpectedFrame& expected, wire::Frame frame);
void medium_placed(State& s, const ExpectedFrame& expected, const wire::Head& head, wire::Frame frame);
void rx_pack(State& s, const wire::Head& head, wire::Frame frame);

}  // namespace omx::protocol
