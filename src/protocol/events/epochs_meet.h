// SPDX-License-Identifier: BSD-3-Clause
// Two extended peers compare their counts (docs/reference/wire.md 5).
#pragma once

#include <cstdint>

#include "wire/packets.h"

namespace omx::protocol {

struct Partner;
struct State;

// Adopts what a CONNECT of an extended peer in `session` says about the counts of both sides; forgets it
// first if it forgot us. True when the two now agree in both directions. Not `trusted`, as the key was wrong:
// nothing is adopted, but who was forgotten still learns it. A conversation is opened only by a request whose
// sender is in none, and by a peer that already uses the count that we offer.
bool epochs_meet(State& s, Partner& p, std::uint32_t session, const wire::Connect& packet,
                 bool trusted = true);

}  // namespace omx::protocol
