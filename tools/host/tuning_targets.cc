// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/tuning_targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/settings.h"
#include "config/settings_environment.h"
#include "netdev/interfaces_choose.h"
#include "netdev/interfaces_meant.h"
#include "netdev/open_failure.h"
#include "runtime/board/claim.h"
#include "runtime/endpoint/counters_shared.h"
#include "tuning/judge_host.h"
#include "tuning/judge_interface.h"

namespace omx::tools {

namespace {

Result<std::vector<link::Interface>> interfaces_named(const std::vector<link::Interface>& all,
                                                      const std::vector<std::string>& names) {
  auto choices = link::interfaces_choose(all, fmt::format("{}", fmt::join(names, ",")), "the command line");
  if (!choices) return tl::unexpected(choices.error());
  std::vector<link::Interface> named;
  std::string refused;
  for (const link::Choice& choice : *choices) {
    const std::string& name = choice.interface.name;
    const bool itself = std::find(names.begin(), names.end(), name) != names.end();
    const bool meant = std::any_of(names.begin(), names.end(), [&](const std::string& word) {
      return link::interface_meant(choice.interface, word);
    });
    if (choice.taken) {
      named.push_back(choice.interface);
    } else if (itself || (meant && refused.empty())) {
      refused = fmt::format("{} cannot carry Open-MX: {}; omx info shows what can", name, choice.reason);
      if (itself) return fail(link::kBoardUnknown, refused);
    }
  }
  // A word can be the address of a tunnel, which cannot carry Open-MX.
  if (named.empty() && !refused.empty()) return fail(link::kBoardUnknown, refused);
  return named;
}

Result<std::vector<link::Interface>> boards(const std::vector<link::Interface>& all) {
  const auto settings = runtime::settings_load();
  if (!settings) return tl::unexpected(settings.error());
  auto choices = link::interfaces_choose(all, settings->interfaces);
  if (!choices) return tl::unexpected(choices.error());
  std::vector<link::Interface> taken;
  for (const link::Choice& choice : *choices) {
    if (choice.taken) taken.push_back(choice.interface);
  }
  return taken;
}

// Returns whether an open endpoint of the interface has stopped using segmentation offload.
bool segmentation_fails(const link::Interface& interface) {
  constexpr std::uint32_t kEndpoints = 256;
  for (std::uint32_t id = 0; id < kEndpoints; id++) {
    if (!runtime::claim_held(interface.index, id)) continue;
    const auto counters = runtime::counters_read(interface.index, id);
    if (counters && counters->engine[protocol::Counter::batches_refused] > 0) return true;
  }
  return false;
}

}  // namespace

Result<TuningReport> tuning_report_find(const tuning::Machine& machine,
                                        const std::vector<std::string>& names) {
  const auto all = machine.interfaces();
  auto interfaces = names.empty() ? boards(all) : interfaces_named(all, names);
  if (!interfaces) return tl::unexpected(interfaces.error());
  const tuning::HostFacts host = tuning::host_facts_read(machine);
  TuningReport report;
  if (names.empty()) report.host = tuning::host_judge(host);
  for (link::Interface& interface : *interfaces) {
    auto facts = tuning::interface_facts_read(machine, interface);
    facts.segmentation_fails = segmentation_fails(interface);
    auto findings = tuning::interface_judge(facts, host);
    report.interfaces.push_back({std::move(interface), std::move(findings)});
  }
  return report;
}

TuningCount tuning_count(const TuningReport& report) {
  TuningCount count;
  const auto add = [&count](const std::vector<tuning::Finding>& findings) {
    for (const tuning::Finding& f : findings) {
      count.better += f.verdict == tuning::Verdict::better;
      count.tunable += !f.changes.empty();
    }
  };
  add(report.host);
  for (const TuningTarget& target : report.interfaces) add(target.findings);
  return count;
}

}  // namespace omx::tools
