// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/agent_facts.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <set>

#include "base/host_name.h"
#include "base/mac.h"
#include "config/settings_environment.h"
#include "config/settings_rows.h"
#include "config/settings_table.h"
#include "tools/host/tuning_targets.h"
#include "tuning/ethtool_kernel.h"

namespace omx::tools {

namespace {

// Settings that are each host's own, or that change nothing for others.
const std::set<std::string_view> kOwn{"OMX_HOSTNAME",       "OMX_LOG_FILE",        "OMX_VERBOSE",
                                      "OMX_VERBOSE_PREFIX", "OMX_PROCESS_BINDING", "OMX_PROGRESS_CPUS"};

void settings_add(Record& facts) {
  runtime::Settings settings;
  if (const auto read = runtime::settings_read(settings); !read) facts.add("error", read.error().message);
  for (const runtime::SettingRow& row : runtime::settings_rows(settings))
    if (!kOwn.contains(row.variable)) facts.add(fmt::format("setting.{}", row.variable), row.value);
}

void findings_add(Record& facts, const std::string& where, const std::vector<tuning::Finding>& findings) {
  for (const tuning::Finding& f : findings) {
    facts.add(fmt::format("verdict.{}{}", where, f.subject), std::string(tuning::verdict_text(f.verdict)));
    if (f.verdict != tuning::Verdict::better) continue;
    facts.add(fmt::format("value.{}{}", where, f.subject), f.value.substr(0, 60));
    if (!f.changes.empty()) facts.add(fmt::format("tunable.{}{}", where, f.subject), "1");
    if (!f.commands.empty()) facts.add(fmt::format("remedy.{}{}", where, f.subject), f.commands.front());
  }
}

}  // namespace

Record agent_facts() {
  Record facts{"facts", {}};
  utsname system{};
  ::uname(&system);
  facts.add("version", OMX_VERSION).add("name", host_name("")).add("kernel", system.release);
  facts.add("processor", system.machine);
  settings_add(facts);
  const auto drivers = tuning::ethtool_of_kernel();
  const auto report = tuning_report_find({*drivers, {}}, {});
  if (!report) return facts.add("error", report.error().message);
  for (std::size_t i = 0; i < report->interfaces.size(); i++) {
    const auto& [interface, findings] = report->interfaces[i];
    const std::string board = fmt::format("board{}.", i);
    facts.add(board + "interface", interface.name)
        .add(board + "mac", mac_format(interface.nic))
        .add(board + "mtu", std::uint64_t{interface.mtu})
        .add(board + "speed", std::to_string(interface.speed_mbps))
        .add(board + "driver", interface.driver)
        .add(board + "running", std::uint64_t{interface.running});
    findings_add(facts, interface.name + " ", findings);
  }
  findings_add(facts, "", report->host);
  return facts;
}

}  // namespace omx::tools
