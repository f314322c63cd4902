// SPDX-License-Identifier: BSD-3-Clause
// Finds the path MTU. Both sides announced what their interfaces carry, but a switch between them may carry
// less. A padded frame that comes back at full size proves both directions. Until then frames stay at the
// base size.
#pragma once

#include <cstdint>

#include "base/mac.h"
#include "protocol/state/peer.h"
#include "protocol/state/state.h"
#include "wire/packets.h"

namespace omx::protocol {

enum class BulkProbe : std::uint8_t { by_bulk, alone, look, seen };

void probe_proven(State& s, Peer& p, std::uint32_t size);
// Probes the frame size of a new peer that agreed on more than is proven. If many peers are new, that waits
// for the first large message.
void probe_at_connect(State& s, Peer& p);
void probe_start(State& s, Peer& p);
void probe_bulk(State& s, Peer& p, BulkProbe which, std::uint32_t size, std::uint32_t cookie);
// Probes the path from our board `rail` to the peer's board `to`.
void probe_rail(State& s, Peer& p, unsigned rail, NicId to, std::uint32_t size, bool is_reply,
                std::uint32_t cookie);
// Sends the answer that proves the size of a probe.
void probe_reply(State& s, Peer& p, const wire::Probe& packet);
void probe_tick(State& s, Peer& p);
// Goes back to the base size, because large frames no longer seem to get through.
void probe_fall_back(State& s, Peer& p);

// Probes the frame size of a peer when the first large message comes or goes.
inline void probe_at_message(State& s, Peer& p, std::uint32_t length) {
  if (p.agreed.probe_wanted && length > s.config.base_frame) [[unlikely]]
    probe_start(s, p);
}

}  // namespace omx::protocol
