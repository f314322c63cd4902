// SPDX-License-Identifier: BSD-3-Clause
// Packets of messages that arrive, alone or several in a frame.
#pragma once

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct ExpectedFrame;
struct Peer;
struct State;

// Takes a message or a NOTIFY that is alone in its frame.
void rx_message(State& s, const wire::Head& head, wire::Frame frame);
// Returns whether a frame is the expected fragment.
bool medium_is(State& s, const ExpectedFrame& expected, wire::Frame frame);
// Takes the expected fragment, whose data are in their place.
void medium_placed(State& s, const ExpectedFrame& expected, const wire::Head& head, wire::Frame frame);
// Takes short messages that share a frame: the records after `packet`.
void rx_messages(State& s, Peer* p, const wire::Head& head, wire::Frame frame, const wire::Pack& packet,
                 wire::Frame records);

}  // namespace omx::protocol
