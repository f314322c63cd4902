// SPDX-License-Identifier: BSD-3-Clause
// Bulk paths: the peer that owns an address, and how far a path is trusted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>

#include "protocol/state/seqnum.h"
#include "protocol/types.h"

namespace omx::protocol {

struct BulkKey {
  std::array<std::uint8_t, 16> ip{};
  std::uint16_t port = 0;
  bool operator==(const BulkKey&) const = default;
};

struct BulkKeyHash {
  std::size_t operator()(const BulkKey& key) const {
    std::uint64_t halves[2];
    std::memcpy(halves, key.ip.data(), sizeof halves);
    return static_cast<std::size_t>((halves[0] ^ halves[1] ^ key.port) * 0x9E3779B97F4A7C15ULL);
  }
};

using BulkOwners = std::unordered_map<BulkKey, Peer*, BulkKeyHash>;

// Trust in one direction of a bulk path that failed, or in GSO frames.
struct BulkTrust {
  TimeNs from = 0;        // no use before
  unsigned failures = 0;  // forgotten after the path worked for long
};

// Failures of a peer's bulk path. Most peers have none.
struct BulkDistrust {
  BulkTrust in, out;
  BulkTrust gso;  // that GSO frames to and from the peer come whole
};
using BulkPart = BulkTrust BulkDistrust::*;

// Data that peers announced by our bulk path.
struct BulkAwaited {
  struct Message {
    Peer* from = nullptr;
    Seqnum number = 0;  // newest number; those before it are awaited, too
  };
  TimeNs until = 0;
  TimeNs progress = 0;   // when the last frame of one of `answers` came
  bool replies = false;  // data sent before their announcement, or messages beyond `messages`
  bool more = false;     // answers beyond `answers`
  std::array<std::uint32_t, 8> answers{};  // answers to pulls of which more comes (wire::bulk_answer())
  std::size_t answer_count = 0;
  std::array<Message, 8> messages;
  std::size_t count = 0;
};

}  // namespace omx::protocol
