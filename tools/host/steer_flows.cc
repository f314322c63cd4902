// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/steer_flows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/affinity.h"
#include "base/cpu_list.h"
#include "base/text.h"
#include "config/settings.h"
#include "config/settings_environment.h"
#include "link/udp/udp_address.h"
#include "link/udp/udp_options.h"
#include "netdev/open_failure.h"
#include "steering/xdp/steer_table.h"
#include "tuning/ethtool_kernel.h"
#include "tuning/flows.h"
#include "tuning/flows_possible.h"

namespace omx::tools {

namespace {

using runtime::LinkKind;

constexpr std::uint32_t kAll = steering::kSteerEndpoints;

// Chooses the IP families that endpoints of this interface use. A NIC without addresses, for example below a
// bridge, gets rules for both.
tuning::FlowScope scope_of(const runtime::Settings& settings, const link::Interface& interface,
                           std::uint32_t endpoints) {
  const auto has = [&](link::IpFamily family) {
    return link::interface_address(interface.name, interface.index, family).has_value();
  };
  const bool four = has(link::IpFamily::v4), six = has(link::IpFamily::v6);
  tuning::FlowScope scope{endpoints, settings.udp_port, link::kUdpBulkPorts, true, false};
  scope.ipv4 = settings.link != LinkKind::udp6 && (four || !six || settings.link == LinkKind::udp4);
  scope.ipv6 = settings.link == LinkKind::udp6 || (settings.link != LinkKind::udp4 && !four);
  return scope;
}

Result<tuning::Ledger> ledger_open(const tuning::Machine& machine, const std::string& folder) {
  const auto boot = tuning::line_read(machine, "/proc/sys/kernel/random/boot_id");
  return tuning::Ledger::open(folder, tuning::ledger_name("flows"), boot.value_or("unknown"));
}

}  // namespace

Result<link::Interface> steer_interface_find(const std::string& name) {
  const auto all = link::interfaces_list();
  for (const link::Interface& one : all)
    if (one.name == name) return one;
  return fail(link::kBoardUnknown, fmt::format("there is no interface \"{}\"; there are: {}", shown(name),
                                               link::interfaces_named(all)));
}

Result<std::string> steer_flows_set(const SteerFlowsOptions& options) {
  const auto drivers = tuning::ethtool_of_kernel();
  const tuning::Machine machine{*drivers, {}};
  const auto settings = runtime::settings_load();
  if (!settings) return tl::unexpected(settings.error());
  const auto interface = steer_interface_find(options.interface);
  if (!interface) return tl::unexpected(interface.error());
  const auto queues = steering::receive_queues_read("", *interface);
  if (queues.interface != interface->name)
    return fail(link::kFailure,
                fmt::format("{0} is above {1}, whose queues receive its frames: omx steer {1} --flows",
                            interface->name, queues.interface));
  // This check comes first, because its message is clearer than that of a failed plan.
  if (const auto can = tuning::flows_possible(machine, *interface); !can) return tl::unexpected(can.error());
  const std::string cpus =
      options.cpus.empty() ? cpu_list_text(tuning::flow_processors(queues)) : options.cpus;
  const auto table = steering::steer_table_make(cpus, options.map, processors_online());
  if (!table) return tl::unexpected(table.error());
  auto ledger = ledger_open(machine, options.state_folder);
  if (!ledger) return tl::unexpected(ledger.error());
  const auto asked = scope_of(*settings, *interface, options.endpoints.value_or(kFlowEndpoints));
  auto scope = tuning::flows_scope_fit(machine, *ledger, *interface, *table, queues, asked);
  if (!scope) return tl::unexpected(scope.error());
  if (options.endpoints) scope->endpoints = asked.endpoints;  // rules for all of them, or an error
  const auto rules = tuning::flows_plan(*table, queues, *scope);
  if (!rules) return tl::unexpected(rules.error());
  const auto applied = tuning::flows_apply(machine, *ledger, *interface, *rules, tuning::rules_each(*scope));
  if (!applied) return tl::unexpected(applied.error());
  return fmt::format(
      "{0}: UDP of endpoints 0 to {1}{2} steered by {3} flow rules ({4} new, {5} kept, {6} replaced, {7} not "
      "ours){8}; omx steer {0} --off ends it\n",
      interface->name, scope->endpoints - 1, scope->ipv6 == asked.ipv6 ? "" : ", only by IPv4,",
      rules->size(), applied->added, applied->kept, applied->removed, applied->others,
      scope->endpoints == asked.endpoints ? "" : "; its table has no room for more");
}

Result<unsigned> steer_flows_off(const std::string& interface, const std::string& state_folder) {
  // Where nothing is to be taken off, neither a folder nor privileges are needed.
  if (::access((state_folder + "/" + tuning::ledger_name("flows")).c_str(), F_OK) != 0 &&
      (errno == ENOENT || errno == ENOTDIR))
    return 0U;
  const auto drivers = tuning::ethtool_of_kernel();
  const tuning::Machine machine{*drivers, {}};
  std::optional<link::Interface> only;
  if (!interface.empty()) {
    auto found = steer_interface_find(interface);
    if (!found) return tl::unexpected(found.error());
    only = std::move(*found);
  }
  auto ledger = ledger_open(machine, state_folder);
  if (!ledger) return tl::unexpected(ledger.error());
  std::string problem;
  const auto undone = tuning::flows_remove(machine, *ledger, only ? &*only : nullptr,
                                           [&problem](std::string_view line) { problem = line; });
  if (!undone) return tl::unexpected(undone.error());
  if (undone->failed)
    return fail(link::kFailure, fmt::format("{}; omx steer --off tries again, because {} remembers it",
                                            problem, ledger->path()));
  return undone->restored;
}

Result<std::vector<FlowReport>> steer_flows_find(const std::string& interface) {
  const auto drivers = tuning::ethtool_of_kernel();
  const tuning::Machine machine{*drivers, {}};
  const auto settings = runtime::settings_load();
  if (!settings) return tl::unexpected(settings.error());
  std::vector<FlowReport> reports;
  for (const link::Interface& one : machine.interfaces()) {
    if (!interface.empty() && one.name != interface) continue;
    auto rules =
        tuning::flows_read(machine, one.name, {kAll, settings->udp_port, link::kUdpBulkPorts, true, true});
    if (rules.empty()) continue;
    reports.push_back(
        {one.name, settings->udp_port, std::move(rules), steering::receive_queues_read("", one)});
  }
  return reports;
}

}  // namespace omx::tools
