// SPDX-License-Identifier: BSD-3-Clause
// All that concerns an interface, and itself MTU, rings, offloads, threads. Pure functions of the facts.
#pragma once

#include <vector>

#include "tuning/facts_host.h"
#include "tuning/facts_interface.h"
#include "tuning/finding.h"

namespace omx::tuning {

Finding rings_judge(const InterfaceFacts& facts);
// In the order in which the changes are to be made: what resets the interface first.
std::vector<Finding> interface_judge(const InterfaceFacts& facts, const HostFacts& host);

}  // namespace omx::tuning
