// SPDX-License-Identifier: BSD-3-Clause
// omx steer --flows: steers the datagrams of endpoints by flow rules of the NIC.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "netdev/interfaces.h"
#include "steering/flow_rule.h"
#include "steering/queues.h"

namespace omx::tools {

inline constexpr std::uint32_t kFlowEndpoints = 16;

struct SteerFlowsOptions {
  std::string interface;
  std::string cpus;
  std::string map;
  std::optional<std::uint32_t> endpoints;  // none: kFlowEndpoints, or fewer if the NIC has less room
  std::string state_folder;
};

// Gives the NIC its rules. Returns the line to print.
Result<std::string> steer_flows_set(const SteerFlowsOptions& options);

// Removes our rules from the interface, or from all interfaces if the name is empty. Returns how many were
// removed.
Result<unsigned> steer_flows_off(const std::string& interface, const std::string& state_folder);

Result<link::Interface> steer_interface_find(const std::string& name);

struct FlowReport {
  std::string interface;
  std::uint16_t port = 0;  // of endpoint 0
  std::vector<steering::FlowRule> rules;
  steering::ReceiveQueues queues;
};
// Returns the interfaces that have rules for our ports, whether Open-MX or another program set them.
Result<std::vector<FlowReport>> steer_flows_find(const std::string& interface);

}  // namespace omx::tools
