// SPDX-License-Identifier: BSD-3-Clause
// CONNECT packets that arrive (docs/spec/protocol.md 3): sessions, first numbers, refusals.
#pragma once

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct State;

bool connect_refused(State& s, wire::Frame frame);
void connect_received(State& s, const wire::Head& head, wire::Frame frame);

}  // namespace omx::protocol
