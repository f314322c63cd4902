// SPDX-License-Identifier: BSD-3-Clause
// Checks an arriving request of a pull and answers it at once (docs/spec/protocol.md 8.4).
#pragma once

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct State;

void pull_serve(State& s, const wire::Head& head, wire::Frame frame);

}  // namespace omx::protocol
