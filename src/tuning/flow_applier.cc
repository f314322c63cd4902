// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/flow_applier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "netdev/open_failure.h"
#include "tuning/flows_possible.h"

namespace omx::tuning {

FlowApplier::FlowApplier(const Machine& machine, Ledger& ledger, const link::Interface& interface,
                         FlowTable table)
    : machine_(machine), ledger_(ledger), interface_(interface), table_(std::move(table)) {
  for (const Saved& saved : ledger.saved()) {
    const auto rule = rule_of(saved);
    if (rule) ours_.push_back(*rule);
  }
}

Result<std::uint32_t> FlowApplier::fit(const std::vector<FlowRule>& wanted, std::uint32_t each) {
  if (auto looked = look(wanted); !looked) return tl::unexpected(looked.error());
  return fitting(each);
}

Result<FlowsApplied> FlowApplier::run(const std::vector<FlowRule>& wanted, std::uint32_t each) {
  if (auto looked = look(wanted); !looked) return tl::unexpected(looked.error());
  if (auto room = room_check(each); !room) {
    // If the driver refuses all rules, advice to use fewer endpoints would be wrong.
    if (auto tried = trial(); !tried) return tl::unexpected(tried.error());
    return tl::unexpected(room.error());
  }
  if (auto dropped = drop([this](const FlowRule& rule) { return !kept(rule); }); !dropped)
    return tl::unexpected(dropped.error());
  for (FlowRule rule : missing_)
    if (auto added = add(rule); !added) return given_up(added.error());
  return applied_;
}

std::optional<FlowRule> FlowApplier::rule_of(const Saved& saved) const {
  if (saved.setting.kind != SettingKind::flow || !saved_of(saved, interface_)) return std::nullopt;
  return steering::flow_parse(saved.setting.name);
}

bool FlowApplier::is_ours(const FlowPlace& at) const {
  return at.rule && std::any_of(ours_.begin(), ours_.end(), [&](const FlowRule& r) {
           return same_work(r, *at.rule) && (r.place == at.place || r.place == kAnyPlace);
         });
}

bool FlowApplier::kept(const FlowRule& rule) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const FlowRule& k) {
    return same_work(k, rule) && (rule.place == kAnyPlace || rule.place == k.place);
  });
}

Result<void> FlowApplier::look(const std::vector<FlowRule>& wanted) {
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

std::uint32_t FlowApplier::fitting(std::uint32_t each) const {
  const std::size_t rules = (enough() ? missing_.size() : room()) + kept_.size() + applied_.others;
  return static_cast<std::uint32_t>(rules / std::max(each, 1U));
}

Result<void> FlowApplier::room_check(std::uint32_t each) const {
  if (enough()) return {};
  const std::uint32_t endpoints = fitting(each);
  const std::string remedy = endpoints == 0 ? "ethtool -n " + interface_.name + " shows them"
                                            : fmt::format("use --endpoints {}", endpoints);
  return fail(link::kNoResources,
              fmt::format("{} has {} places for flow rules, of which {} are free, and {} more are needed: {}",
                          interface_.name, table_.places, room(), missing_.size(), remedy));
}

Result<void> FlowApplier::trial() {
  const bool takes = std::any_of(table_.taken.begin(), table_.taken.end(),
                                 [this](const FlowPlace& at) { return is_ours(at); });
  if (takes || missing_.empty() || room() == 0) return {};
  FlowRule first = missing_.front();
  const auto added = add(first);
  const auto dropped = drop([&](const FlowRule& rule) { return same_work(rule, first); });
  if (!added) return added;
  return dropped;
}

Result<void> FlowApplier::drop(const std::function<bool(const FlowRule&)>& which) {
  std::string problem;
  const auto undone = tune_undo(
      machine_, ledger_, [&problem](std::string_view line) { problem = line; },
      [&](const Saved& saved) {
        const auto rule = rule_of(saved);
        return rule && which(*rule);
      });
  if (!undone) return tl::unexpected(undone.error());
  if (undone->failed)
    return fail(link::kFailure, fmt::format("{}; omx steer {} --off tries again", problem, interface_.name));
  applied_.removed += undone->restored;
  return {};
}

Result<void> FlowApplier::add(FlowRule& rule) {
  if (!table_.nic_chooses) {
    // Use the last places first. NICs check the first places first, which stay free for rules of the
    // administrator.
    rule.place = next_ == kAnyPlace ? table_.places - 1 : next_;
    while (rule.place > 0 && taken_.count(rule.place) != 0) rule.place--;
    next_ = rule.place == 0 ? 0 : rule.place - 1;
  }
  const Setting setting{SettingKind::flow, interface_.name, flow_name(rule)};
  if (auto saved = ledger_.add({setting, interface_.index, interface_.nic, std::string(kFlowAbsent)}); !saved)
    return saved;
  const int error = setting_write(machine_, setting, std::string(kFlowThere));
  if (error == EPERM) return tl::unexpected(flow_failure(interface_, error));
  if (error)
    return fail(link::kFailure,
                fmt::format("the driver of {0} refuses the {1} ({2})", interface_.name,
                            setting_text(setting).substr(interface_.name.size() + 1), std::strerror(error)));
  if (setting_read(machine_, setting) != std::string(kFlowThere)) return unseen(rule);
  applied_.added++;
  return {};
}

Result<void> FlowApplier::unseen(const FlowRule& rule) {
  std::string rest;
  if (rule.place == kAnyPlace || machine_.ethtool.flow_remove(interface_.name, rule.place) != 0)
    rest = fmt::format("; ethtool -n {} shows it, and ethtool -N {} delete takes it away", interface_.name,
                       interface_.name);
  return fail(link::kFailure, fmt::format("{} does not show the flow rule for UDP port {} that it took{}",
                                          interface_.name, rule.port, rest));
}

Result<FlowsApplied> FlowApplier::given_up(const Failure& why) {
  const auto dropped = drop([](const FlowRule&) { return true; });
  if (!dropped) return fail(why.mx_code, fmt::format("{}; and {}", why.message, dropped.error().message));
  return fail(why.mx_code,
              fmt::format("{}; no flow rules of omx steer are on {} now", why.message, interface_.name));
}

}  // namespace omx::tuning
