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
Address address_pack(const AddressParts& parts);
AddressParts address_unpack(const Address& address);

}  // namespace omx::runtime
