// SPDX-License-Identifier: BSD-3-Clause
// Bulk paths (UDP lanes): the peer that owns an address, and how far a path is trusted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>

#include "protocol/state/seqnum.h"
#include "protocol/types.h"

namespace omx::protocol {

struct LaneKey {
  std::array<std::uint8_t, 16> ip{};
  std::uint16_t port = 0;
  bool operator==(const LaneKey&) const = default;
};

struct LaneKeyHash {
  std::size_t operator()(const LaneKey& key) const {
    std::uint64_t halves[2];
    std::memcpy(halves, key.ip.data(), sizeof halves);
    return static_cast<std::size_t>((halves[0] ^ halves[1] ^ key.port) * 0x9E3779B97F4A7C15ULL);
  }
};

using LaneOwners = std::unordered_map<LaneKey, Partner*, LaneKeyHash>;

// One direction of a lane that failed. In one word: a large job has many idle partners.
struct LaneTrust {
  TimeNs from : 56 = 0;     // not before
  TimeNs failures : 8 = 0;  // until it worked for long
};

// What others said is on its way by our lane.
struct LaneAwaited {
  struct Message {
    Partner* from = nullptr;
    Seqnum number = 0;  // the newest: those before it are awaited, too
  };
  TimeNs until = 0;
  TimeNs progress = 0;   // when the last frame of one of `answers` came
  bool replies = false;  // what was sent before it was announced, or messages that there is no room for
  bool more = false;     // answers that there is no room for
  std::array<std::uint32_t, 8> answers{};  // to pulls, of which more comes: wire::lane_answer()
  std::size_t answer_count = 0;
  std::array<Message, 8> messages;
  std::size_t count = 0;
};

}  // namespace omx::protocol
