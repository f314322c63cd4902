// SPDX-License-Identifier: BSD-3-Clause
// Plans the flow rules that bring the datagrams of each endpoint to its processor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/expected.h"
#include "steering/queues.h"
#include "tuning/ethtool.h"

namespace omx::tuning {

// The datagrams that get rules: endpoint e has port + e for frames, and port + e + kUdpBulkPorts for large
// messages.
struct FlowScope {
  std::uint32_t endpoints = 0;
  std::uint16_t port = 0;
  std::uint16_t bulk_ports = 256;
  bool ipv4 = true;
  bool ipv6 = false;
};

inline std::uint32_t rules_each(const FlowScope& scope) {
  return 2U * (static_cast<std::uint32_t>(scope.ipv4) + static_cast<std::uint32_t>(scope.ipv6));
}

// Returns the processors that the receive queues bring frames to, sorted.
std::vector<int> flow_processors(const steering::ReceiveQueues& queues);

// Returns one rule for each port, into a queue of the endpoint's processor. `table` gives the processors by
// endpoint.
Result<std::vector<FlowRule>> flows_plan(std::span<const std::uint32_t> table,
                                         const steering::ReceiveQueues& queues, const FlowScope& scope);

}  // namespace omx::tuning
