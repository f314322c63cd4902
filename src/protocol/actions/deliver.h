// SPDX-License-Identifier: BSD-3-Clause
// Delivers messages to receives (docs/spec/protocol.md 9): matching, the unexpected handler, data into place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

struct State;

enum class Delivery { complete, incomplete, refused };

Delivery deliver_eager(State& s, Peer& p, const wire::Eager& packet, const std::byte* data);
// Delivers a fragment. Without `data`, its data are already in the place that partial_place() named.
Delivery deliver_medium(State& s, Peer& p, const wire::Medium& packet, std::uint32_t unit,
                        const std::byte* data);
Delivery deliver_rndv(State& s, Peer& p, const wire::Rndv& packet, const std::byte* tail);
void partial_abandon(State& s, Peer& p, Status status);

}  // namespace omx::protocol
