// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_group.h"

#include <algorithm>

namespace omx::link {

std::uint32_t FanoutGroup::spares() const {
  return std::min(directory().spares.load(std::memory_order_acquire), FanoutDirectory::kMembers);
}

}  // namespace omx::link
