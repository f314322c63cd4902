// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/engine/operation.h"

#include <algorithm>

#include "tests/fuzz/require.h"

namespace omx::fuzz {

namespace {

constexpr std::size_t kFence = 16;

}  // namespace

void Operation::allocate(std::uint32_t length, std::uint32_t pieces) {
  capacity = length;
  memory.assign(length + (pieces + 1) * kFence, kCanary);
  std::byte* base = memory.data() + kFence;
  for (std::uint32_t i = 0; i < pieces; i++) {
    const std::uint32_t piece = i + 1 < pieces ? length / pieces : length - (length / pieces) * i;
    segments.push_back({base, piece});
    base += piece + kFence;
  }
}

Bytes Operation::content() const {
  Bytes all;
  all.reserve(capacity);
  for (const protocol::Segment& s : segments) all.insert(all.end(), s.base, s.base + s.length);
  return all;
}

void Operation::fill(std::span<const std::byte> content) {
  for (const protocol::Segment& s : segments) {
    std::copy_n(content.begin(), s.length, s.base);
    content = content.subspan(s.length);
  }
}

void Operation::check_canaries() const {
  const std::byte* at = memory.data();
  const auto fence = [&] {
    REQUIRE(untouched({at, kFence}));
    at += kFence;
  };
  for (const protocol::Segment& s : segments) {
    fence();
    REQUIRE(at == s.base);
    at += s.length;
  }
  fence();
}

}  // namespace omx::fuzz
