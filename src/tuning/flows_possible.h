// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether a NIC and its driver take flow rules.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "tuning/machine.h"

namespace omx::tuning {

// Returns the NIC's table. Fails with a sentence for people if the NIC takes no rules.
Result<FlowTable> flows_possible(const Machine& machine, const link::Interface& interface);
// Also fails if the driver is known to refuse the wanted rules.
Result<FlowTable> flows_possible(const Machine& machine, const link::Interface& interface,
                                 const std::vector<FlowRule>& wanted);
// Returns the message for an errno value: why the table cannot be read or written.
Failure flow_failure(const link::Interface& interface, int error);

}  // namespace omx::tuning
