// SPDX-License-Identifier: BSD-3-Clause
// The egress program at the newer hook of a NIC (tcx, Linux 6.6 and later), which runs before all filters.
// Programs of others stay as they are.
#pragma once

#include <cstdint>

#include "base/expected.h"

namespace omx::broker {

struct TcxHook {
  bool possible = false;         // the kernel has this hook
  std::uint32_t program_id = 0;  // 0: no program of ours
  std::uint32_t programs = 0;    // of all
  bool first = false;            // no other program comes before ours
};
// Reads what the hook of an interface of this network namespace holds.
TcxHook tcx_find(std::uint32_t ifindex);

// Puts the program before all others, and removes the former one of ours.
Result<void> tcx_add(std::uint32_t ifindex, int program);
// Removes our program if there is one.
Result<void> tcx_remove(std::uint32_t ifindex);

}  // namespace omx::broker
