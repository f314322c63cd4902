// SPDX-License-Identifier: BSD-3-Clause
// From which size on one copy of a message is better than eager frames, which are copied three times: into
// the send buffer, into the ring, out of it. That depends on how fast the machine copies, and on what its
// kernel asks for a read of another process's memory, per call and per page. That the bytes go from one core
// to the other costs either way the same.
#pragma once

#include <cstdint>

namespace omx::local {

inline constexpr std::uint32_t kThresholdLeast = 4096, kThresholdMost = 65536;

// Nanoseconds for `bytes` each, and for a read of next to nothing.
struct CopyCosts {
  std::uint32_t bytes = 0;
  double copy_ns = 0;  // memcpy
  double read_ns = 0;  // process_vm_readv
  double call_ns = 0;
};

// A multiple of 4 KiB within the bounds above.
std::uint32_t threshold_from(const CopyCosts& costs);
// Measured at the first call, in some tens of microseconds; afterwards what it was then.
std::uint32_t threshold_of_this_machine();

}  // namespace omx::local
