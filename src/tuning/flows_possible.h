// SPDX-License-Identifier: BSD-3-Clause
// Whether a NIC and its driver take flow rules.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "tuning/machine.h"

namespace omx::tuning {

// Fails with the sentence for people where this NIC takes no rules.
Result<FlowTable> flows_possible(const Machine& machine, const link::Interface& interface);
// The same, and where its driver is not known to refuse such rules.
Result<FlowTable> flows_possible(const Machine& machine, const link::Interface& interface,
                                 const std::vector<FlowRule>& wanted);
// Why the table cannot be read or written: the sentence for an errno value.
Failure flow_failure(const link::Interface& interface, int error);

}  // namespace omx::tuning
