// SPDX-License-Identifier: BSD-3-Clause
// Judges an interface: MTU, rings, offloads, threads here, and the rest by other files. Pure functions of the
// facts.
#pragma once

#include <vector>

#include "tuning/facts_host.h"
#include "tuning/facts_interface.h"
#include "tuning/finding.h"

namespace omx::tuning {

Finding rings_judge(const InterfaceFacts& facts);
// Returns the findings in the order in which the changes are to be made. Changes that reset the interface
// come first.
std::vector<Finding> interface_judge(const InterfaceFacts& facts, const HostFacts& host);

}  // namespace omx::tuning
