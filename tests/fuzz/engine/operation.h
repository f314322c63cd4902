// SPDX-License-Identifier: BSD-3-Clause
// One operation of a program at either end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/fuzz/engine/scene.h"

namespace omx::fuzz {

// One operation with memory of its own: segments with canaries between and around them.
struct Operation {
  protocol::RequestKind kind = protocol::RequestKind::receive;
  Request* request = nullptr;  // nullptr: forgotten
  Peer* peer = nullptr;        // of a send or connect: to; of a receive: its only source, or nullptr for any
  bool ended = false;
  std::uint64_t match_info = 0, match_mask = 0;
  std::uint32_t capacity = 0;
  Bytes memory;
  std::vector<protocol::Segment> segments;
  Book::Entry* entry = nullptr;  // of a send of a message that describes itself

  void allocate(std::uint32_t length, std::uint32_t pieces);
  Bytes content() const;
  void fill(std::span<const std::byte> content);
  void check_canaries() const;
};

}  // namespace omx::fuzz
