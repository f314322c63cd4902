// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/flows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tuning/driver_facts.h"
#include "tuning/flows_possible.h"

namespace omx::tuning {

Result<FlowsApplied> flows_apply(const Machine& machine, Ledger& ledger, const link::Interface& interface,
                                 const std::vector<FlowRule>& wanted, std::uint32_t each) {
  auto table = flows_possible(machine, interface, wanted);
  if (!table) return tl::unexpected(table.error());
  return FlowApplier(machine, ledger, interface, std::move(*table)).run(wanted, each);
}

Result<FlowScope> flows_scope_fit(const Machine& machine, Ledger& ledger, const link::Interface& interface,
                                  std::span<const std::uint32_t> table, const steering::ReceiveQueues& queues,
                                  FlowScope scope) {
  if (scope.ipv4 && driver_facts(interface.driver).udp_rules == UdpRules::ipv4) scope.ipv6 = false;
  const auto wanted = flows_plan(table, queues, scope);
  if (!wanted) return tl::unexpected(wanted.error());
  auto places = flows_possible(machine, interface, *wanted);
  if (!places) return tl::unexpected(places.error());
  const auto endpoints =
      FlowApplier(machine, ledger, interface, std::move(*places)).fit(*wanted, rules_each(scope));
  if (!endpoints) return tl::unexpected(endpoints.error());
  scope.endpoints = std::clamp(*endpoints, 1U, scope.endpoints);
  return scope;
}

Result<Undone> flows_remove(const Machine& machine, Ledger& ledger, const link::Interface* interface,
                            const Report& report) {
  return tune_undo(machine, ledger, report, [interface](const Saved& saved) {
    return saved.setting.kind == SettingKind::flow && (!interface || saved_of(saved, *interface));
  });
}

std::vector<FlowRule> flows_read(const Machine& machine, const std::string& interface,
                                 const FlowScope& scope) {
  std::vector<FlowRule> rules;
  const auto table = machine.ethtool.flows(interface);
  if (!table) return rules;
  for (const FlowPlace& at : table->taken) {
    if (!at.rule || at.rule->port < scope.port) continue;
    const std::uint32_t beyond = at.rule->port - std::uint32_t{scope.port};
    if (beyond < scope.endpoints ||
        (beyond >= scope.bulk_ports && beyond - scope.bulk_ports < scope.endpoints))
      rules.push_back(*at.rule);
  }
  std::sort(rules.begin(), rules.end(), [](const FlowRule& a, const FlowRule& b) {
    return std::tie(a.port, a.ipv6, a.place) < std::tie(b.port, b.ipv6, b.place);
  });
  return rules;
}

}  // namespace omx::tuning
