// SPDX-License-Identifier: BSD-3-Clause
// NIC ids: 64-bit values whose low 48 bits are the MAC address, first byte most significant
// (docs/spec/wire.md 6.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace omx {

using NicId = std::uint64_t;

inline constexpr NicId kBroadcastNic = 0xffffffffffffULL;

// Returns whether the address is a multicast or broadcast address.
inline bool mac_is_group(NicId nic) {
  return (nic >> 40 & 1) != 0;
}

inline void mac_store(std::byte* p, NicId nic) {
  store_be32(p, static_cast<std::uint32_t>(nic >> 16));
  store_be16(p + 4, static_cast<std::uint16_t>(nic));
}

inline NicId mac_load(const std::byte* p) {
  return NicId{load_be32(p)} << 16 | load_be16(p + 4);
}

// Returns the address as "00:60:dd:47:c4:75", in lower case.
std::string mac_format(NicId nic);

// Parses six hexadecimal pairs with ':' or '-' between them. Returns nullopt for anything else.
std::optional<NicId> mac_parse(std::string_view text);

}  // namespace omx
