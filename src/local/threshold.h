// SPDX-License-Identifier: BSD-3-Clause
// The size from which on one copy of a message is better than eager frames. These are copied three times:
// into the send buffer, into the ring, and out of it. The size depends on how fast the machine copies. It
// also depends on what the kernel takes for a read of another process's memory, per call and per page. Moving
// the bytes from one core to the other costs the same either way.
#pragma once

#include <cstdint>

namespace omx::local {

inline constexpr std::uint32_t kThresholdLeast = 4096, kThresholdMost = 65536;

// Nanoseconds to copy and to read `bytes` bytes, and to read next to nothing.
struct CopyCosts {
  std::uint32_t bytes = 0;
  double copy_ns = 0;  // memcpy
  double read_ns = 0;  // process_vm_readv
  double call_ns = 0;
};

// Returns the threshold in bytes: a multiple of 4 KiB within the bounds above.
std::uint32_t threshold_from(const CopyCosts& costs);
// Returns the threshold of this machine. The first call measures it, in some tens of microseconds.
// Thread-safe.
std::uint32_t threshold_of_this_machine();

}  // namespace omx::local
