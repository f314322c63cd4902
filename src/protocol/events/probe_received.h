// SPDX-License-Identifier: BSD-3-Clause
// Probes that arrive.
#pragma once

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct State;

void probe_received(State& s, const wire::Head& head, wire::Frame frame);

}  // namespace omx::protocol
