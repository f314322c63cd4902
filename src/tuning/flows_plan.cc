// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/flows_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/cpu_list.h"
#include "netdev/open_failure.h"

namespace omx::tuning {

namespace {

bool has(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Returns the queues that bring frames to this processor. Queues that serve no other processor take
// precedence.
std::vector<std::uint32_t> queues_of(const steering::ReceiveQueues& queues, int cpu) {
  std::vector<std::uint32_t> alone, among;
  for (const steering::ReceiveQueue& queue : queues.queues) {
    if (!has(queue.processors, cpu)) continue;
    (queue.processors.size() == 1 ? alone : among).push_back(static_cast<std::uint32_t>(queue.number));
  }
  return alone.empty() ? among : alone;
}

tl::unexpected<Failure> queue_missing(const steering::ReceiveQueues& queues, int cpu) {
  const std::vector<int> there = flow_processors(queues);
  const std::string& name = queues.interface;
  if (there.empty())
    return fail(link::kFailure, fmt::format("which processors the receive queues of {0} bring frames to is "
                                            "not known; omx tune {0} binds their interrupts",
                                            name));
  return fail(link::kFailure,
              fmt::format("no receive queue of {0} brings frames to processor {1}, only to {2}: use --cpus "
                          "{2}, or bind an interrupt of {0} to it (omx check {0})",
                          name, cpu, cpu_list_text(there)));
}

}  // namespace

std::vector<int> flow_processors(const steering::ReceiveQueues& queues) {
  std::set<int> all;
  for (const steering::ReceiveQueue& queue : queues.queues)
    all.insert(queue.processors.begin(), queue.processors.end());
  return {all.begin(), all.end()};
}

Result<std::vector<FlowRule>> flows_plan(std::span<const std::uint32_t> table,
                                         const steering::ReceiveQueues& queues, const FlowScope& scope) {
  std::vector<FlowRule> rules;
  for (std::uint32_t e = 0; e < std::min<std::size_t>(scope.endpoints, table.size()); e++) {
    const int cpu = static_cast<int>(table[e]);
    const auto choice = queues_of(queues, cpu);
    if (choice.empty()) return queue_missing(queues, cpu);
    for (const std::uint32_t beyond : {0U, std::uint32_t{scope.bulk_ports}}) {
      FlowRule rule;
      rule.port = static_cast<std::uint16_t>(scope.port + e + beyond);
      rule.queue = choice[e % choice.size()];
      for (const bool ipv6 : {false, true}) {
        if (!(ipv6 ? scope.ipv6 : scope.ipv4)) continue;
        rule.ipv6 = ipv6;
        rules.push_back(rule);
      }
    }
  }
  return rules;
}

}  // namespace omx::tuning
