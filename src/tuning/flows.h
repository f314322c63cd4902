// SPDX-License-Identifier: BSD-3-Clause
// Datagrams of an endpoint to the processor of the endpoint, by flow rules of the NIC. A rule is in the
// ledger before the NIC has it, so that what a killed program leaves is known and can be taken back; a rule
// of anybody else is never changed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tuning/flow_applier.h"
#include "tuning/flows_plan.h"
#include "tuning/tuner.h"

namespace omx::tuning {

// All of them, or none: where one is refused, all of ours on this interface go.
Result<FlowsApplied> flows_apply(const Machine& machine, Ledger& ledger, const link::Interface& interface,
                                 const std::vector<FlowRule>& wanted, std::uint32_t each);

// As much of `scope` as the NIC takes: fewer endpoints where its table has less room, IPv4 alone where the
// driver takes no other rules. At least one endpoint, so that flows_apply says why there is no room. Changes
// nothing.
Result<FlowScope> flows_scope_fit(const Machine& machine, Ledger& ledger, const link::Interface& interface,
                                  std::span<const std::uint32_t> table, const steering::ReceiveQueues& queues,
                                  FlowScope scope);

// Ours, of this interface or (nullptr) of all.
Result<Undone> flows_remove(const Machine& machine, Ledger& ledger, const link::Interface* interface,
                            const Report& report);

// What the NIC has for these ports, whoever set it, by port. Empty where there can be none.
std::vector<FlowRule> flows_read(const Machine& machine, const std::string& interface,
                                 const FlowScope& scope);

}  // namespace omx::tuning
