// SPDX-License-Identifier: BSD-3-Clause
// Judges what concerns all interfaces: power states, socket buffers, busy polling, irqbalance. Pure functions
// of the facts.
#pragma once

#include <vector>

#include "tuning/facts_host.h"
#include "tuning/finding.h"

namespace omx::tuning {

std::vector<Finding> host_judge(const HostFacts& facts);

}  // namespace omx::tuning
