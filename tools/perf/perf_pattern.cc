// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_pattern.h"

#include <algorithm>
#include <cstring>

namespace omx::tools {

namespace {

constexpr std::byte kGuard{0xA5};

// Mixes bits like splitmix64: cheap, and each output bit depends on each input bit.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t pattern_seed(std::uint64_t size, std::uint64_t number, bool from_client) {
  return mix(size ^ mix(2 * number + from_client));
}

void pattern_fill(std::span<std::byte> data, std::uint64_t seed) {
  for (std::size_t at = 0; at < data.size(); at += 8) {
    const std::uint64_t word = mix(seed + at);
    std::memcpy(data.data() + at, &word, std::min<std::size_t>(8, data.size() - at));
  }
}

std::optional<std::size_t> pattern_check(std::span<const std::byte> data, std::uint64_t seed) {
  for (std::size_t at = 0; at < data.size(); at += 8) {
    const std::uint64_t word = mix(seed + at);
    std::byte expected[8];
    std::memcpy(expected, &word, sizeof expected);
    const std::size_t length = std::min<std::size_t>(8, data.size() - at);
    if (std::memcmp(data.data() + at, expected, length) == 0) continue;
    const auto wrong = std::mismatch(expected, expected + length, data.data() + at);
    return at + static_cast<std::size_t>(wrong.first - expected);
  }
  return std::nullopt;
}

void guard_fill(std::byte* guard) {
  std::fill_n(guard, kGuardBytes, kGuard);
}

bool guard_intact(const std::byte* guard) {
  return std::all_of(guard, guard + kGuardBytes, [](std::byte b) { return b == kGuard; });
}

}  // namespace omx::tools
