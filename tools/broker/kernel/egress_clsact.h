// SPDX-License-Identifier: BSD-3-Clause
// The egress program as a filter of a NIC's clsact, for kernels before 6.6, which have no tcx. A frame costs
// about 80 ns more there. Filters of others stay as they are.
#pragma once

#include <cstdint>

#include "base/expected.h"

namespace omx::broker {

// Filters run in order of priority, and a filter that accepts a frame ends the search. So ours has the first.
inline constexpr std::uint16_t kHookPriority = 1;
inline constexpr std::uint32_t kHookHandle = 0x4F4D;

// Adds the program to an interface of this network namespace, or replaces the one that is there without a
// gap. Makes the clsact if the interface has none.
Result<void> clsact_add(std::uint32_t ifindex, int program);

struct ClsactHook {
  std::uint32_t program_id = 0;  // 0: the clsact holds no program of ours
  bool own_clsact = false;       // we made the clsact
  bool first = false;            // no other filter comes before ours
};
Result<ClsactHook> clsact_find(std::uint32_t ifindex);

// Removes our filter if there is one. Removes the clsact, too, if we made it and it holds no other filter.
Result<void> clsact_remove(std::uint32_t ifindex);

}  // namespace omx::broker
