// SPDX-License-Identifier: BSD-3-Clause
// Boards of an endpoint and of a peer, and the paths between them (docs/explanation/rails.md).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

using wire::kRailsMost;

// State of the path from one of our boards to one of the peer's.
//
//   unknown --answer to a probe--> up --missed, while another one works--> suspected --answer--> up
enum class RailState : std::uint8_t { unknown, up, suspected };

struct RailPath {
  RailState state = RailState::unknown;
  std::uint8_t to = 0;       // index of the peer's board
  std::uint8_t tries = 0;    // probes in a row without an answer
  std::uint32_t frame = 0;   // largest frame that came back
  std::uint32_t cookie = 0;  // of the probe on its way; 0: none
  TimeNs probe_due = 0;      // no probe before
  TimeNs heard = 0;          // when the last frame came by this path
  // Since when a suspected path has been silent. If it was only slow, we are patient with it for a while.
  TimeNs silent_since = 0;
  TimeNs patience = 0, patience_until = 0;
  bool up() const { return state == RailState::up; }
};

struct Rails {
  std::uint8_t count = 0;  // number of our boards
  std::uint8_t home = 0;   // board for all but the data of large messages
  wire::RailNics peer;
  TimeNs doubted = 0;                      // since when expected frames fail to come by `home`; 0: they come
  std::array<RailPath, kRailsMost> paths;  // by index of our board
};

// Boards, with their endpoint, of peers that are known by another board.
using RailAliases = std::unordered_map<std::uint64_t, Peer*>;

}  // namespace omx::protocol
