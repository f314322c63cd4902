// SPDX-License-Identifier: BSD-3-Clause
// The address of an endpoint, as the application holds it.
#pragma once

#include <cstdint>

#include "base/mac.h"

namespace omx::runtime {

// The address of a remote endpoint, or of our own: 16 bytes, passed by value. It can be decoded without a
// table, and a stale one is recognised (docs/spec/mx-api.md 2).
struct Address {
  std::uint64_t stuff[2] = {0, 0};
};

struct AddressParts {
  NicId nic = 0;
  std::uint8_t endpoint = 0;
  std::uint32_t session = 0xFFFFFFFF;
  std::uint32_t slot = 0;  // of the owning endpoint in this process
  std::uint32_t peer = 0;  // index in the engine
  // The conversation in which the address was obtained, modulo kConversations. In a later one the address is
  // invalid (docs/reference/contract.md).
  std::uint32_t conversation = 0;
};
inline constexpr std::uint32_t kConversations = 256;
// Packs an address: stuff[0] = nic (48 bits) | endpoint << 48 | slot low 8 bits << 56.
// stuff[1] = peer (20 bits) | slot high 4 bits << 20 | conversation (8 bits) << 24 | session << 32. The
// session is in the last four bytes, as in Open-MX 1.x.
constexpr Address address_pack(const AddressParts& parts) {
  constexpr std::uint64_t kNicMask = (1ULL << 48) - 1;
  Address address;
  address.stuff[0] =
      (parts.nic & kNicMask) | std::uint64_t{parts.endpoint} << 48 | std::uint64_t{parts.slot & 0xff} << 56;
  address.stuff[1] = (parts.peer & 0xfffffU) | std::uint64_t{(parts.slot >> 8) & 0xfU} << 20 |
                     std::uint64_t{parts.conversation % kConversations} << 24 |
                     std::uint64_t{parts.session} << 32;
  return address;
}

// Return single parts, which cost less than all.
constexpr std::uint32_t address_peer(const Address& address) {
  return static_cast<std::uint32_t>(address.stuff[1] & 0xfffff);
}
constexpr std::uint32_t address_session(const Address& address) {
  return static_cast<std::uint32_t>(address.stuff[1] >> 32);
}
constexpr std::uint32_t address_conversation(const Address& address) {
  return static_cast<std::uint32_t>(address.stuff[1] >> 24 & 0xff);
}
// Returns whether the address names this endpoint of a NIC, in the slot of its owner.
constexpr bool address_names(const Address& address, NicId nic, std::uint8_t endpoint, std::uint32_t slot) {
  const Address same = address_pack({nic, endpoint, 0, slot, 0, 0});
  constexpr std::uint64_t kSlotHigh = std::uint64_t{0xf} << 20;
  return address.stuff[0] == same.stuff[0] && ((address.stuff[1] ^ same.stuff[1]) & kSlotHigh) == 0;
}

constexpr AddressParts address_unpack(const Address& address) {
  AddressParts parts;
  parts.nic = address.stuff[0] & ((1ULL << 48) - 1);
  parts.endpoint = static_cast<std::uint8_t>(address.stuff[0] >> 48);
  parts.slot = static_cast<std::uint32_t>(address.stuff[0] >> 56) |
               static_cast<std::uint32_t>((address.stuff[1] >> 20) & 0xf) << 8;
  parts.peer = static_cast<std::uint32_t>(address.stuff[1] & 0xfffff);
  parts.conversation = static_cast<std::uint32_t>((address.stuff[1] >> 24) & 0xff);
  parts.session = static_cast<std::uint32_t>(address.stuff[1] >> 32);
  return parts;
}

}  // namespace omx::runtime
