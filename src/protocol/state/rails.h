// SPDX-License-Identifier: BSD-3-Clause
// Paths between several boards (docs/explanation/rails.md): which of them may be used, and their state.
#pragma once

#include <cstdint>

#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/rail_paths.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

// Shorter messages take the nearest board.
inline constexpr std::uint32_t kRailBytes = 64 * 1024;

inline constexpr std::uint32_t kRailAnyFrame = ~std::uint32_t{0};

std::uint64_t rail_alias_key(NicId nic, std::uint8_t endpoint);
Peer* rail_alias_find(const State& s, NicId nic, std::uint8_t endpoint);
bool rail_usable(const State& s, const RailPath& path, unsigned rail);
// Returns the largest frame that is sent to a peer by any path.
std::uint32_t rail_frame_wanted(const Peer& p);
bool rails_busy(const Peer& p);
bool rail_probe_needed(const State& s, const Peer& p, unsigned rail);
TimeNs rail_patience(const State& s, const Peer& p, const RailPath& path);
// Notes that something we waited for came by a path.
void rail_prove(State& s, RailPath& path);
void rails_forget(State& s, Peer& p);
// Returns the boards that may carry replies with `unit` data bytes, as bits.
unsigned rails_usable(const State& s, const Peer& p, std::uint32_t unit);
TimeNs rails_due(const State& s, const Peer& p);
TimeNs rails_patience(const State& s, const Peer& p);
bool rail_is_late(const State& s, const Pull& pull, const PullBlock& block);

// Returns whether the endpoint has several boards.
inline bool rails_used(const State& s) {
  return s.config.rails.count > 1;
}

}  // namespace omx::protocol
