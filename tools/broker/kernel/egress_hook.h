// SPDX-License-Identifier: BSD-3-Clause
// Puts the egress program at the egress hook of a NIC, where the kernel runs it for every frame that leaves
// by the NIC. It stays there when this process ends.
#pragma once

#include <cstdint>

#include "base/expected.h"

namespace omx::broker {

// Adds the program to an interface of the calling thread's network namespace, or replaces the one that is
// there without a gap. Takes the faster hook (tcx) where the kernel has it, and a clsact elsewhere.
Result<void> egress_hook_add(std::uint32_t ifindex, int program);

struct EgressHook {
  std::uint32_t program_id = 0;  // 0: the interface has no program of ours
  // No program or filter of others comes before ours. One that does may let frames pass that ours would drop.
  bool first = false;
};
Result<EgressHook> egress_hook_find(std::uint32_t ifindex);

// Removes our program if there is one.
Result<void> egress_hook_remove(std::uint32_t ifindex);

}  // namespace omx::broker
