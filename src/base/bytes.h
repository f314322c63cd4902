// SPDX-License-Identifier: BSD-3-Clause
// Big-endian loads and stores at any alignment. Every multi-byte field is big-endian (docs/spec/wire.md 1).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace omx {

static_assert(std::endian::native == std::endian::little, "big-endian hosts need the swaps below removed");

inline std::uint8_t load8(const std::byte* p) {
  return static_cast<std::uint8_t>(*p);
}

inline std::uint16_t load_be16(const std::byte* p) {
  std::uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap16(v);
}

inline std::uint32_t load_be32(const std::byte* p) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}

inline std::uint64_t load_be64(const std::byte* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}

inline void store8(std::byte* p, std::uint8_t v) {
  *p = static_cast<std::byte>(v);
}

inline void store_be16(std::byte* p, std::uint16_t v) {
  v = __builtin_bswap16(v);
  std::memcpy(p, &v, sizeof v);
}

inline void store_be32(std::byte* p, std::uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof v);
}

inline void store_be64(std::byte* p, std::uint64_t v) {
  v = __builtin_bswap64(v);
  std::memcpy(p, &v, sizeof v);
}

}  // namespace omx
