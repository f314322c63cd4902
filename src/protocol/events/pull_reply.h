// SPDX-License-Identifier: BSD-3-Clause
// Data of a running pull arrive (docs/spec/protocol.md 8.3).
#pragma once

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct State;

void pull_reply_received(State& s, const wire::Head& head, wire::Frame frame);
// Takes a reply whose data are in their place already. Only the header of the frame is there.
void pull_reply_placed(State& s, const wire::Head& head, wire::Frame frame);
void pull_nacked(State& s, const wire::Head& head, wire::Frame frame);
// Ends the pulls whose copies are over.
void pulls_copied(State& s);

}  // namespace omx::protocol
