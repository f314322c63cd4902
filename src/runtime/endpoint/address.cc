// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/address.h"

namespace omx::runtime {

Address address_pack(const AddressParts& parts) {
  constexpr std::uint64_t kNicMask = (1ULL << 48) - 1;
  Address address;
  address.stuff[0] =
      (parts.nic & kNicMask) | std::uint64_t{parts.endpoint} << 48 | std::uint64_t{parts.slot & 0xff} << 56;
  address.stuff[1] = (parts.peer & 0xfffffU) | std::uint64_t{(parts.slot >> 8) & 0xfU} << 20 |
                     std::uint64_t{parts.conversation % kConversations} << 24 |
                     std::uint64_t{parts.session} << 32;
  return address;
}

AddressParts address_unpack(const Address& address) {
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
