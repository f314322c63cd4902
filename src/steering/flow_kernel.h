// SPDX-License-Identifier: BSD-3-Clause
// Flow rules as the kernel has them. Errors are errno values.
#pragma once

#include <functional>

#include "base/expected.h"
#include "steering/flow_rule.h"

namespace omx::steering {

// An ethtool command for one interface: 0 or errno.
using EthtoolCall = std::function<int(void*)>;

Expected<FlowTable, int> flow_table_read(const EthtoolCall& call);
// Of one place; ENOENT: it is free.
Expected<FlowPlace, int> flow_place_read(const EthtoolCall& call, std::uint32_t place);
int flow_insert(const EthtoolCall& call, const FlowRule& rule);
int flow_delete(const EthtoolCall& call, std::uint32_t place);

}  // namespace omx::steering
