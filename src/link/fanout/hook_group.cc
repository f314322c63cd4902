// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/hook_group.h"

#include <algorithm>

namespace omx::link {

std::uint32_t HookGroup::deposited() const {
  return std::min(directory().deposited.load(std::memory_order_acquire), HookDirectory::kPlaces);
}

}  // namespace omx::link
