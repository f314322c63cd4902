// SPDX-License-Identifier: BSD-3-Clause
// Counter generations of message counts between extended peers (docs/reference/wire.md 5).
#pragma once

#include <cstdint>

#include "wire/packets.h"

namespace omx::protocol {

struct Peer;

// Returns -1, 0 or 1 when a is older than b, the same, or newer; modulo 2^31.
int generation_compare(std::uint32_t a, std::uint32_t b);
std::uint32_t generation_first(std::uint32_t session);
std::uint32_t generation_next(std::uint32_t generation);
void generation_fill(const Peer& p, wire::ConnectExt& ext);
// Begins another count of received numbers; the peer learns it from the next CONNECT.
void peer_renumber(Peer& p);

}  // namespace omx::protocol
