// SPDX-License-Identifier: BSD-3-Clause
// Brings the datagrams of an endpoint to its processor by flow rules of the NIC. The ledger has a rule before
// the NIC has it. So the rules that a killed program leaves are known and can be removed. Rules of other
// owners are never changed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tuning/flow_applier.h"
#include "tuning/flows_plan.h"
#include "tuning/tuner.h"

namespace omx::tuning {

// Adds all wanted rules or none. If one is refused, all of ours on this interface are removed.
Result<FlowsApplied> flows_apply(const Machine& machine, Ledger& ledger, const link::Interface& interface,
                                 const std::vector<FlowRule>& wanted, std::uint32_t each);

// Returns as much of `scope` as the NIC takes. That is fewer endpoints if its table has less room, and IPv4
// alone if the driver takes no other rules. It is at least one endpoint, so that flows_apply can report why
// there is no room. Changes nothing.
Result<FlowScope> flows_scope_fit(const Machine& machine, Ledger& ledger, const link::Interface& interface,
                                  std::span<const std::uint32_t> table, const steering::ReceiveQueues& queues,
                                  FlowScope scope);

// Removes our rules on this interface, or on all with nullptr.
Result<Undone> flows_remove(const Machine& machine, Ledger& ledger, const link::Interface* interface,
                            const Report& report);

// Returns the NIC's rules for these ports by port, whoever set them. Empty if the NIC has none.
std::vector<FlowRule> flows_read(const Machine& machine, const std::string& interface,
                                 const FlowScope& scope);

}  // namespace omx::tuning
