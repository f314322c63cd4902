// SPDX-License-Identifier: BSD-3-Clause
// Puts the egress program at the egress hook of a NIC (clsact), where the kernel runs it for every frame that
// leaves by the NIC. Filters of others at the hook stay as they are.
#pragma once

#include <cstdint>

#include "base/expected.h"
#include "base/own_fd.h"

namespace omx::broker {

// Filters run in order of priority, and a filter that accepts a frame ends the search. So ours has the first.
inline constexpr std::uint16_t kHookPriority = 1;
inline constexpr std::uint32_t kHookHandle = 0x4F4D;

// Adds the program at the hook of an interface of this network namespace, or replaces the one that is there
// without a gap. Makes the clsact if the interface has none.
Result<void> egress_hook_add(std::uint32_t ifindex, int program);

struct EgressHook {
  std::uint32_t program_id = 0;  // 0: the interface has no program of ours
  bool own_clsact = false;       // we made the clsact
  bool first = false;            // no other filter comes before ours
};
Result<EgressHook> egress_hook_find(std::uint32_t ifindex);

// Removes our program if there is one. Removes the clsact, too, if we made it and it holds no other filter.
Result<void> egress_hook_remove(std::uint32_t ifindex);

}  // namespace omx::broker
