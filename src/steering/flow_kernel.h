// SPDX-License-Identifier: BSD-3-Clause
// Flow rules in the kernel. Errors are errno values.
#pragma once

#include <functional>

#include "base/expected.h"
#include "steering/flow_rule.h"

namespace omx::steering {

// Passes an ethtool command to one interface. Returns 0 or errno.
using EthtoolCall = std::function<int(void*)>;

Expected<FlowTable, int> flow_table_read(const EthtoolCall& call);
// Reads the rule at one place. ENOENT: the place is free.
Expected<FlowPlace, int> flow_place_read(const EthtoolCall& call, std::uint32_t place);
int flow_insert(const EthtoolCall& call, const FlowRule& rule);
int flow_delete(const EthtoolCall& call, std::uint32_t place);

}  // namespace omx::steering
