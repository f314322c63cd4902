// SPDX-License-Identifier: BSD-3-Clause
// Sends the first frames of a large message behind its RNDV, as unscheduled data (docs/reference/wire.md 17).
#pragma once

#include "wire/packets.h"

namespace omx::protocol {

struct Request;
struct State;

// Counts a large message at its sender, and says which frames will follow the RNDV, if any.
void unscheduled_plan(State& s, Request& r, wire::Rndv& packet);
void unscheduled_transmit(State& s, Request& r, const wire::Rndv& rndv);

}  // namespace omx::protocol
