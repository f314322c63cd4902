// SPDX-License-Identifier: BSD-3-Clause
// Data that arrive for a running pull (docs/spec/protocol.md 8.3).
#pragma once

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct State;

void pull_reply_received(State& s, const wire::Head& head, wire::Frame frame);
// Takes a reply whose data are already in their place. The frame holds only its header.
void pull_reply_placed(State& s, const wire::Head& head, wire::Frame frame);
void pull_nacked(State& s, const wire::Head& head, wire::Frame frame);
// Ends the pulls whose copies are complete.
void pulls_copied(State& s);

}  // namespace omx::protocol
