// SPDX-License-Identifier: BSD-3-Clause
// Datagrams of an endpoint to the processor of the endpoint, by flow rules of the NIC. A rule is in the
// ledger before the NIC has it, so that what a killed program leaves is known and can be taken back; a rule
// of anybody else is never changed.
#pragma once

#include <span>

#include "steering/queues.h"
#include "tuning/tuner.h"

namespace omx::tuning {

// Which datagrams: endpoint e has port + e for frames, and port + e + lanes for large messages.
struct FlowScope {
  std::uint32_t endpoints = 0;
  std::uint16_t port = 0;
  std::uint16_t lanes = 256;
  bool ipv4 = true;
  bool ipv6 = false;
};

inline std::uint32_t rules_each(const FlowScope& scope) {
  return 2U * (static_cast<std::uint32_t>(scope.ipv4) + static_cast<std::uint32_t>(scope.ipv6));
}

// The processors that a receive queue brings frames to, sorted.
std::vector<int> flow_processors(const steering::ReceiveQueues& queues);

// One rule for each port, into a queue of the endpoint's processor: `table`, by endpoint.
Result<std::vector<FlowRule>> flows_plan(std::span<const std::uint32_t> table,
                                         const steering::ReceiveQueues& queues, const FlowScope& scope);

// Fails with the sentence for people where this NIC takes no rules.
Result<FlowTable> flows_possible(const Machine& machine, const link::Interface& interface);

struct FlowsApplied {
  unsigned added = 0;
  unsigned kept = 0;     // of ours, from before
  unsigned removed = 0;  // of ours, which do other than what is wanted now
  unsigned others = 0;   // are there already, and not ours
};

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
