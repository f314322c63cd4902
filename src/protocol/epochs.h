// SPDX-License-Identifier: BSD-3-Clause
// How two extended peers agree how they count messages (docs/reference/wire.md 5).
#pragma once

#include <cstdint>

#include "protocol/state.h"

namespace omx::protocol {

std::uint32_t epoch_first(std::uint32_t session);
std::uint32_t epoch_next(std::uint32_t epoch);
void epoch_fill(const Partner& p, wire::ConnectExt& ext);
// Adopts what a CONNECT of an extended peer in `session` says about the counts of both sides; forgets it
// first if it forgot us. True when the two now agree in both directions. Not `trusted`, as the key was wrong:
// nothing is adopted, but who was forgotten still learns it. A conversation is opened only by a request whose
// sender is in none, and by a peer that already uses the count that we offer.
bool epochs_meet(State& s, Partner& p, std::uint32_t session, const wire::Connect& packet,
                 bool trusted = true);
// A packet does not fit the agreed counts: asks, though not often.
void epochs_doubt(State& s, Partner& p);

}  // namespace omx::protocol
