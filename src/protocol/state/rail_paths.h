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

// From one of our boards to one of the partner's.
//
//   unknown --answer to a probe--> up --missed, while another one works--> suspected --answer--> up
enum class RailState : std::uint8_t { unknown, up, suspected };

struct RailPath {
  RailState state = RailState::unknown;
  std::uint8_t to = 0;       // which of its boards
  std::uint8_t tries = 0;    // probes in a row without an answer
  std::uint32_t frame = 0;   // the largest that came back
  std::uint32_t cookie = 0;  // of the probe on its way; 0: none
  TimeNs probe_due = 0;      // not before
  TimeNs heard = 0;          // the last frame that came by it
  // Suspected, it was silent since then. That it was only slow makes us patient with it for a while.
  TimeNs silent_since = 0;
  TimeNs patience = 0, patience_until = 0;
  bool up() const { return state == RailState::up; }
};

struct Rails {
  std::uint8_t count = 0;  // of ours
  std::uint8_t home = 0;   // by which all goes but the data of large messages
  wire::RailNics peer;
  TimeNs doubted = 0;                      // since then nothing came by it that should have; 0: all did
  std::array<RailPath, kRailsMost> paths;  // by our board
};

// The boards of partners that they are not known by, with their endpoint.
using RailAliases = std::unordered_map<std::uint64_t, Partner*>;

}  // namespace omx::protocol
