// SPDX-License-Identifier: BSD-3-Clause
// The memory of a large message, as the record that announces it.
#pragma once

#include <cstdint>

namespace omx::local {

// The pieces of memory follow, one iovec each, in the sender's address space.
struct RegionHead {
  std::uint16_t region = 0;  // its place among the sender's regions
  std::uint8_t generation = 0, reserved = 0;
  std::uint16_t count = 0, reserved_too = 0;  // of pieces
  std::uint64_t life = 0;     // which the sender's word has while the memory is the region's ...
  std::uint64_t life_at = 0;  // ... at this address of its process
};

}  // namespace omx::local
