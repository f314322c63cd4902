// SPDX-License-Identifier: BSD-3-Clause
// Messages that describe themselves: the match information names the message, and every byte follows from
// that. Their bytes are 0x80 and above. Bytes that attackers send or may read are below.
#pragma once

#include <cstring>
#include <deque>
#include <span>

#include "base/random.h"
#include "protocol/types.h"
#include "tests/fuzz/engine/script.h"

namespace omx::fuzz {

inline constexpr std::byte kCanary{0xEE};
inline constexpr std::byte kPublic{0x41};

// Compares memory fast, because this takes most of a run.
inline bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}
inline bool untouched(std::span<const std::byte> memory) {
  static const Bytes canaries(std::size_t{1} << 21, kCanary);
  return same(memory, std::span(canaries).first(memory.size()));
}

class Book {
 public:
  struct Entry {
    std::uint32_t length = 0;
    bool delivered = false;
    bool failed = false;  // its sender got an error
  };

  explicit Book(std::uint8_t direction) : direction_(direction) {}

  // Writes a message and returns its match information.
  std::uint64_t write(std::uint32_t length, std::uint8_t tag) {
    const auto id = static_cast<std::uint32_t>(entries.size());
    entries.push_back({length});
    return std::uint64_t{direction_} << 56 | std::uint64_t{id} << 8 | tag;
  }
  // Returns the entry, or nullptr if the message is none of these.
  Entry* find(std::uint64_t match_info) {
    const auto id = static_cast<std::uint32_t>(match_info >> 8);
    if (match_info >> 56 != direction_ || id >= entries.size()) return nullptr;
    return &entries[id];
  }
  static std::span<const std::byte> content(std::uint64_t match_info, std::size_t length) {
    static const Bytes all = [] {
      Bytes bytes(std::size_t{1} << 18);
      random_fill(bytes, 1);
      for (std::byte& b : bytes) b |= std::byte{0x80};
      return bytes;
    }();
    return std::span(all).subspan((match_info >> 8) * 41 % 0xFFFF, length);
  }

  std::deque<Entry> entries;  // a deque, because pointers to its elements are kept

 private:
  std::uint8_t direction_;
};

}  // namespace omx::fuzz
