// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/flows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <tuple>

#include "base/cpu_list.h"
#include "netdev/open_failure.h"
#include "tuning/driver_facts.h"

namespace omx::tuning {

namespace {

constexpr const char* kSwitch = "rx-ntuple-filter";

bool has(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Queues that bring frames to this processor: to it alone, if there are such.
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

Failure table_failure(const link::Interface& interface, int error) {
  const std::string& name = interface.name;
  if (error == EOPNOTSUPP)
    return {link::kFailure,
            fmt::format("{0} takes no flow rules (driver: {1}), so datagrams go where its hash sends "
                        "them; frames that are no datagrams are steered by omx steer {0}",
                        name, interface.driver.empty() ? interface.kind : interface.driver)};
  if (error == EPERM) return {link::kNoPermission, "flow rules of NICs are set by root only: sudo omx steer"};
  return {link::kFailure, fmt::format("the flow rules of {} cannot be read: {}", name, std::strerror(error))};
}

// Why a driver that is known refuses these rules; empty: it is not known to.
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

// Some drivers have a table, and refuse every rule until somebody switches it on. That resets some NICs, so
// it is not for us to do.
bool switched_off(const Machine& machine, const std::string& interface) {
  const auto features = machine.ethtool.features(interface);
  if (!features) return false;
  return std::any_of(features->begin(), features->end(),
                     [](const Feature& f) { return f.name == kSwitch && f.available && !f.active; });
}

class FlowApplier {
 public:
  FlowApplier(const Machine& machine, Ledger& ledger, const link::Interface& interface, FlowTable table)
      : machine_(machine), ledger_(ledger), interface_(interface), table_(std::move(table)) {
    for (const Saved& saved : ledger.saved()) {
      const auto rule = rule_of(saved);
      if (rule) ours_.push_back(*rule);
    }
  }

  // How many endpoints have room.
  Result<std::uint32_t> fit(const std::vector<FlowRule>& wanted, std::uint32_t each) {
    if (auto looked = look(wanted); !looked) return tl::unexpected(looked.error());
    return fitting(each);
  }

  Result<FlowsApplied> run(const std::vector<FlowRule>& wanted, std::uint32_t each) {
    if (auto looked = look(wanted); !looked) return tl::unexpected(looked.error());
    if (auto room = room_check(each); !room) {
      // No advice that the driver then refuses.
      if (auto tried = trial(); !tried) return tl::unexpected(tried.error());
      return tl::unexpected(room.error());
    }
    if (auto dropped = drop([this](const FlowRule& rule) { return !kept(rule); }); !dropped)
      return tl::unexpected(dropped.error());
    for (FlowRule rule : missing_)
      if (auto added = add(rule); !added) return given_up(added.error());
    return applied_;
  }

 private:
  std::optional<FlowRule> rule_of(const Saved& saved) const {
    if (saved.setting.kind != SettingKind::flow || !saved_of(saved, interface_)) return std::nullopt;
    return steering::flow_parse(saved.setting.name);
  }

  bool is_ours(const FlowPlace& at) const {
    return at.rule && std::any_of(ours_.begin(), ours_.end(), [&](const FlowRule& r) {
             return same_work(r, *at.rule) && (r.place == at.place || r.place == kAnyPlace);
           });
  }

  bool kept(const FlowRule& rule) const {
    return std::any_of(kept_.begin(), kept_.end(), [&](const FlowRule& k) {
      return same_work(k, rule) && (rule.place == kAnyPlace || rule.place == k.place);
    });
  }

  // What is there already, and what is not.
  Result<void> look(const std::vector<FlowRule>& wanted) {
    missing_ = wanted;
    for (const FlowPlace& at : table_.taken) {
      const bool ours = is_ours(at);
      const auto same = !at.rule ? missing_.end()
                                 : std::find_if(missing_.begin(), missing_.end(),
                                                [&](const FlowRule& w) { return same_port(w, *at.rule); });
      if (same == missing_.end() || (ours && !same_work(*same, *at.rule))) {
        if (!ours) taken_.insert(at.place);
        continue;
      }
      if (!same_work(*same, *at.rule))
        return fail(link::kBusy,
                    fmt::format("{0} has a flow rule of somebody else's for UDP port {1}, into queue {2}; if "
                                "nobody needs it: ethtool -N {0} delete {3}",
                                interface_.name, at.rule->port, at.rule->queue, at.place));
      taken_.insert(at.place);
      missing_.erase(same);
      if (!ours) {
        applied_.others++;
        continue;
      }
      kept_.push_back(*at.rule);
      applied_.kept++;
    }
    return {};
  }

  std::size_t room() const { return table_.places - std::min<std::size_t>(table_.places, taken_.size()); }
  bool enough() const { return missing_.size() <= room() || (table_.nic_chooses && table_.places == 0); }
  std::uint32_t fitting(std::uint32_t each) const {
    const std::size_t rules = (enough() ? missing_.size() : room()) + kept_.size() + applied_.others;
    return static_cast<std::uint32_t>(rules / std::max(each, 1U));
  }

  Result<void> room_check(std::uint32_t each) const {
    if (enough()) return {};
    const std::uint32_t endpoints = fitting(each);
    const std::string remedy = endpoints == 0 ? "ethtool -n " + interface_.name + " shows them"
                                              : fmt::format("use --endpoints {}", endpoints);
    return fail(
        link::kNoResources,
        fmt::format("{} has {} places for flow rules, of which {} are free, and {} more are needed: {}",
                    interface_.name, table_.places, room(), missing_.size(), remedy));
  }

  // Whether the driver takes such rules at all. Leaves none behind.
  Result<void> trial() {
    const bool takes = std::any_of(table_.taken.begin(), table_.taken.end(),
                                   [this](const FlowPlace& at) { return is_ours(at); });
    if (takes || missing_.empty() || room() == 0) return {};
    FlowRule first = missing_.front();
    const auto added = add(first);
    const auto dropped = drop([&](const FlowRule& rule) { return same_work(rule, first); });
    if (!added) return added;
    return dropped;
  }

  // Of ours.
  Result<void> drop(const std::function<bool(const FlowRule&)>& which) {
    std::string problem;
    const auto undone = tune_undo(
        machine_, ledger_, [&problem](std::string_view line) { problem = line; },
        [&](const Saved& saved) {
          const auto rule = rule_of(saved);
          return rule && which(*rule);
        });
    if (!undone) return tl::unexpected(undone.error());
    if (undone->failed)
      return fail(link::kFailure,
                  fmt::format("{}; omx steer {} --off tries again", problem, interface_.name));
    applied_.removed += undone->restored;
    return {};
  }

  Result<void> add(FlowRule& rule) {
    if (!table_.nic_chooses) {
      // The last ones first: NICs look at the first ones first, which are for whoever comes by hand.
      rule.place = next_ == kAnyPlace ? table_.places - 1 : next_;
      while (rule.place > 0 && taken_.count(rule.place) != 0) rule.place--;
      next_ = rule.place == 0 ? 0 : rule.place - 1;
    }
    const Setting setting{SettingKind::flow, interface_.name, flow_name(rule)};
    if (auto saved = ledger_.add({setting, interface_.index, interface_.nic, std::string(kFlowAbsent)});
        !saved)
      return saved;
    const int error = setting_write(machine_, setting, std::string(kFlowThere));
    if (error == EPERM) return tl::unexpected(table_failure(interface_, error));
    if (error)
      return fail(link::kFailure, fmt::format("the driver of {0} refuses the {1} ({2})", interface_.name,
                                              setting_text(setting).substr(interface_.name.size() + 1),
                                              std::strerror(error)));
    if (setting_read(machine_, setting) != std::string(kFlowThere)) return unseen(rule);
    applied_.added++;
    return {};
  }

  // What is not shown as it was given cannot be told from others' rules later.
  Result<void> unseen(const FlowRule& rule) {
    std::string rest;
    if (rule.place == kAnyPlace || machine_.ethtool.flow_remove(interface_.name, rule.place) != 0)
      rest = fmt::format("; ethtool -n {} shows it, and ethtool -N {} delete takes it away", interface_.name,
                         interface_.name);
    return fail(link::kFailure, fmt::format("{} does not show the flow rule for UDP port {} that it took{}",
                                            interface_.name, rule.port, rest));
  }

  Result<FlowsApplied> given_up(const Failure& why) {
    const auto dropped = drop([](const FlowRule&) { return true; });
    if (!dropped) return fail(why.mx_code, fmt::format("{}; and {}", why.message, dropped.error().message));
    return fail(why.mx_code,
                fmt::format("{}; no flow rules of omx steer are on {} now", why.message, interface_.name));
  }

  const Machine& machine_;
  Ledger& ledger_;
  const link::Interface& interface_;
  const FlowTable table_;
  std::vector<FlowRule> ours_;      // as the ledger has them, there or not
  std::vector<FlowRule> kept_;      // of ours
  std::vector<FlowRule> missing_;   // of those that are wanted
  std::set<std::uint32_t> taken_;   // places, but for those of ours that go
  std::uint32_t next_ = kAnyPlace;  // where to look for a place
  FlowsApplied applied_;
};

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
    for (const std::uint32_t beyond : {0U, std::uint32_t{scope.lanes}}) {
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

Result<FlowTable> flows_possible(const Machine& machine, const link::Interface& interface) {
  auto table = machine.ethtool.flows(interface.name);
  if (!table) return tl::unexpected(table_failure(interface, table.error()));
  if (table->places == 0 && !table->nic_chooses) return tl::unexpected(table_failure(interface, EOPNOTSUPP));
  if (const std::string objection = driver_objection(interface, false); !objection.empty())
    return fail(link::kFailure, objection);
  if (switched_off(machine, interface.name))
    return fail(link::kFailure,
                fmt::format("flow rules of {0} are switched off: ethtool -K {0} ntuple on", interface.name));
  return std::move(*table);
}

namespace {

Result<FlowTable> table_for(const Machine& machine, const link::Interface& interface,
                            const std::vector<FlowRule>& wanted) {
  auto table = flows_possible(machine, interface);
  if (!table) return table;
  const bool ipv6 = std::any_of(wanted.begin(), wanted.end(), [](const FlowRule& rule) { return rule.ipv6; });
  const std::string objection = driver_objection(interface, ipv6);
  if (!objection.empty()) return fail(link::kFailure, objection);
  return table;
}

}  // namespace

Result<FlowsApplied> flows_apply(const Machine& machine, Ledger& ledger, const link::Interface& interface,
                                 const std::vector<FlowRule>& wanted, std::uint32_t each) {
  auto table = table_for(machine, interface, wanted);
  if (!table) return tl::unexpected(table.error());
  return FlowApplier(machine, ledger, interface, std::move(*table)).run(wanted, each);
}

Result<FlowScope> flows_scope_fit(const Machine& machine, Ledger& ledger, const link::Interface& interface,
                                  std::span<const std::uint32_t> table, const steering::ReceiveQueues& queues,
                                  FlowScope scope) {
  if (scope.ipv4 && driver_facts(interface.driver).udp_rules == UdpRules::ipv4) scope.ipv6 = false;
  const auto wanted = flows_plan(table, queues, scope);
  if (!wanted) return tl::unexpected(wanted.error());
  auto places = table_for(machine, interface, *wanted);
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
    if (beyond < scope.endpoints || (beyond >= scope.lanes && beyond - scope.lanes < scope.endpoints))
      rules.push_back(*at.rule);
  }
  std::sort(rules.begin(), rules.end(), [](const FlowRule& a, const FlowRule& b) {
    return std::tie(a.port, a.ipv6, a.place) < std::tie(b.port, b.ipv6, b.place);
  });
  return rules;
}

}  // namespace omx::tuning
