// SPDX-License-Identifier: BSD-3-Clause
#include "steering/flow_hints.h"

#include <algorithm>
#include <limits>

#include "steering/ethtool_call.h"
#include "steering/flow_kernel.h"

namespace omx::steering {

namespace {

constexpr std::size_t kEndpoints = 256;

}  // namespace

std::vector<int> flow_hints(const FlowTable& table, const DatagramPorts& ports) {
  std::vector<FlowRule> rules;
  for (const FlowPlace& at : table.taken)
    if (at.rule && (at.rule->ipv6 ? ports.ipv6 : ports.ipv4)) rules.push_back(*at.rule);
  // If several rules match one port, NICs use the first.
  std::sort(rules.begin(), rules.end(),
            [](const FlowRule& a, const FlowRule& b) { return a.place < b.place; });
  std::vector<int> queues(kEndpoints, -1);
  bool any = false;
  for (const FlowRule& rule : rules) {
    const std::size_t endpoint = std::size_t{rule.port} - ports.first;  // large for lower ports
    if (endpoint >= kEndpoints || queues[endpoint] >= 0) continue;
    if (rule.queue > static_cast<std::uint32_t>(std::numeric_limits<int>::max())) continue;
    queues[endpoint] = static_cast<int>(rule.queue);
    any = true;
  }
  return any ? queues : std::vector<int>{};
}

std::vector<int> flow_hints_read(const std::string& interface, const DatagramPorts& ports) {
  const auto table = flow_table_read([&](void* command) { return ethtool_call(interface, command); });
  return table ? flow_hints(*table, ports) : std::vector<int>{};
}

}  // namespace omx::steering
