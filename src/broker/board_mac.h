// SPDX-License-Identifier: BSD-3-Clause
// The addresses of boards that a broker serves.
#pragma once

#include "base/mac.h"

namespace omx::broker {

// Returns the address of the macvlan of a NIC: the NIC's with the first octet changed, marked as a local one.
// Every host computes the same.
constexpr NicId board_mac(NicId nic) {
  return (nic ^ (NicId{0xA8} << 40)) | (NicId{0x02} << 40);
}

}  // namespace omx::broker
