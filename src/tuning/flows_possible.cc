// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/flows_possible.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "netdev/open_failure.h"
#include "tuning/driver_facts.h"

namespace omx::tuning {

namespace {

constexpr const char* kSwitch = "rx-ntuple-filter";

// Returns why a known driver refuses these rules. Empty: the driver is not known to refuse them.
std::string driver_objection(const link::Interface& interface, bool wants_ipv6) {
  const UdpRules takes = driver_facts(interface.driver).udp_rules;
  if (takes == UdpRules::none)
    return fmt::format(
        "the driver {0} of {1} takes flow rules by Ethernet type and address only, none by UDP port, "
        "so datagrams go where its hash sends them; frames that are no datagrams are steered by "
        "omx steer {1}",
        interface.driver, interface.name);
  if (takes == UdpRules::ipv4 && wants_ipv6)
    return fmt::format(
        "the driver {} of {} takes flow rules for UDP over IPv4 only, so endpoints must be reached by "
        "it: OMX_LINK=udp4, on all hosts",
        interface.driver, interface.name);
  return {};
}

// Returns whether rules must be switched on first. Some drivers have a table but refuse every rule until
// then. Switching resets some NICs, so the administrator must do it.
bool switched_off(const Machine& machine, const std::string& interface) {
  const auto features = machine.ethtool.features(interface);
  if (!features) return false;
  return std::any_of(features->begin(), features->end(),
                     [](const Feature& f) { return f.name == kSwitch && f.available && !f.active; });
}

}  // namespace

Failure flow_failure(const link::Interface& interface, int error) {
  const std::string& name = interface.name;
  if (error == EOPNOTSUPP)
    return {link::kFailure,
            fmt::format("{0} takes no flow rules (driver: {1}), so datagrams go where its hash sends "
                        "them; frames that are no datagrams are steered by omx steer {0}",
                        name, interface.driver.empty() ? interface.kind : interface.driver)};
  if (error == EPERM) return {link::kNoPermission, "flow rules of NICs are set by root only: sudo omx steer"};
  return {link::kFailure, fmt::format("the flow rules of {} cannot be read: {}", name, std::strerror(error))};
}

Result<FlowTable> flows_possible(const Machine& machine, const link::Interface& interface) {
  auto table = machine.ethtool.flows(interface.name);
  if (!table) return tl::unexpected(flow_failure(interface, table.error()));
  if (table->places == 0 && !table->nic_chooses) return tl::unexpected(flow_failure(interface, EOPNOTSUPP));
  if (const std::string objection = driver_objection(interface, false); !objection.empty())
    return fail(link::kFailure, objection);
  if (switched_off(machine, interface.name))
    return fail(link::kFailure,
                fmt::format("flow rules of {0} are switched off: ethtool -K {0} ntuple on", interface.name));
  return std::move(*table);
}

Result<FlowTable> flows_possible(const Machine& machine, const link::Interface& interface,
                                 const std::vector<FlowRule>& wanted) {
  auto table = flows_possible(machine, interface);
  if (!table) return table;
  const bool ipv6 = std::any_of(wanted.begin(), wanted.end(), [](const FlowRule& rule) { return rule.ipv6; });
  const std::string objection = driver_objection(interface, ipv6);
  if (!objection.empty()) return fail(link::kFailure, objection);
  return table;
}

}  // namespace omx::tuning
