// SPDX-License-Identifier: BSD-3-Clause
// The host of the papers: two sockets with two pairs of cores each. Each pair has one cache. Linux numbers
// the cores of such machines across the sockets, so consecutive numbers are never near. The papers show their
// numbering in a figure that no text describes.
#pragma once

#include <cstdint>

namespace omx::simulation::nic {

inline constexpr std::uint32_t kCores = 8;
enum class Distance : std::uint8_t { same, shared, socket, other };

inline std::uint32_t socket_of(std::uint32_t core) {
  return core % 2;
}
inline std::uint32_t pair_of(std::uint32_t core) {
  return core % 2 * 2 + core / 4;
}
inline std::uint32_t neighbour_of(std::uint32_t core) {
  return core ^ 2U;
}
inline Distance distance(std::uint32_t a, std::uint32_t b) {
  if (a == b) return Distance::same;
  if (pair_of(a) == pair_of(b)) return Distance::shared;
  return socket_of(a) == socket_of(b) ? Distance::socket : Distance::other;
}

}  // namespace omx::simulation::nic
