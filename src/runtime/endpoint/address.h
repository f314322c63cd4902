// SPDX-License-Identifier: BSD-3-Clause
// The address of an endpoint, as programs hold it.
#pragma once

#include <cstdint>

#include "base/mac.h"

namespace omx::runtime {

// A remote (or own) endpoint's address: 16 bytes, passed by value, self-describing so that it can be taken
// apart without any table and a stale one is recognised (docs/spec/mx-api.md 2).
struct Address {
  std::uint64_t stuff[2] = {0, 0};
};

struct AddressParts {
  NicId nic = 0;
  std::uint8_t endpoint = 0;
  std::uint32_t session = 0xFFFFFFFF;
  std::uint32_t slot = 0;     // of the owning endpoint in this process
  std::uint32_t partner = 0;  // index in the engine
  // The conversation in which it was obtained, modulo kConversations: in a later one it is of no use
  // (docs/reference/contract.md).
  std::uint32_t conversation = 0;
};
inline constexpr std::uint32_t kConversations = 256;
// stuff[0] = nic (48 bits) | endpoint << 48 | slot low 8 bits << 56;
// stuff[1] = partner (20 bits) | slot high 4 bits << 20 | conversation (8 bits) << 24 | session << 32: the
// session is in the last four bytes, as in the reference.
Address address_pack(const AddressParts& parts);
AddressParts address_unpack(const Address& address);

}  // namespace omx::runtime
