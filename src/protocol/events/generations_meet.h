// SPDX-License-Identifier: BSD-3-Clause
// Compares the counter generations of two extended peers (docs/reference/wire.md 5).
#pragma once

#include <cstdint>

#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct State;

// Adopts what a CONNECT of an extended peer in `session` says about the counter generations of both sides.
// Forgets the peer first if the peer forgot us. Returns true when both directions agree. `trusted` is false
// when the key was wrong: nothing is adopted, but a peer that forgot us is still forgotten. A conversation is
// opened only by a request whose sender is in no conversation, or by a peer that already uses our generation.
bool generations_meet(State& s, Peer& p, std::uint32_t session, const wire::Connect& packet,
                      bool trusted = true);

}  // namespace omx::protocol
