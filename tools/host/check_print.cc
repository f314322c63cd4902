// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/check_print.h"

#include <fmt/format.h>

#include <iterator>

#include "tools/json.h"

namespace omx::tools {

namespace {

using Out = std::back_insert_iterator<std::string>;

// A NIC with 64 queues would print 64 commands.
constexpr std::size_t kCommandsShown = 8;
constexpr std::size_t kValueShown = 400;

void finding_print(Out out, const tuning::Finding& f) {
  std::string value = f.value.substr(0, kValueShown);
  if (value.size() < f.value.size()) value += " ... (all: --json)";
  fmt::format_to(out, "  {:<15}  {}: {}\n", tuning::verdict_text(f.verdict), f.subject, value);
  fmt::format_to(out, "  {:<15}  {}\n", "", f.meaning);
  for (std::size_t i = 0; i < f.commands.size(); i++) {
    if (i == kCommandsShown) {
      fmt::format_to(out, "  {:<15}    ... {} more (all: --json)\n", "", f.commands.size() - i);
      break;
    }
    fmt::format_to(out, "  {:<15}    # {}\n", "", f.commands[i]);
  }
}

std::string title_of(const link::Interface& i) {
  std::string title = fmt::format("{} ({}", i.name, i.driver.empty() ? i.kind : i.driver);
  if (i.speed_mbps > 0) title += fmt::format(", {} Mb/s", i.speed_mbps);
  if (i.numa_node >= 0) title += fmt::format(", NUMA node {}", i.numa_node);
  return title + ")";
}

void findings_json(JsonWriter& json, const std::vector<tuning::Finding>& findings) {
  json.array("findings", [&] {
    for (const tuning::Finding& f : findings) {
      json.object([&] {
        json.field("subject", f.subject);
        json.field("value", f.value);
        json.field("verdict", tuning::verdict_text(f.verdict));
        json.field("meaning", f.meaning);
        json.field("tunable", !f.changes.empty());
        json.array("commands", [&] {
          for (const std::string& command : f.commands) json.element(command);
        });
      });
    }
  });
}

}  // namespace

std::string check_text(const TuningReport& report) {
  std::string text;
  Out out = std::back_inserter(text);
  for (const TuningTarget& target : report.interfaces) {
    fmt::format_to(out, "{}:\n", title_of(target.interface));
    for (const tuning::Finding& f : target.findings) finding_print(out, f);
    fmt::format_to(out, "\n");
  }
  if (!report.host.empty()) {
    fmt::format_to(out, "this host:\n");
    for (const tuning::Finding& f : report.host) finding_print(out, f);
    fmt::format_to(out, "\n");
  }
  const TuningCount count = tuning_count(report);
  if (count.better == 0) {
    fmt::format_to(out, "Nothing here is known to slow messages down.\n");
  } else if (count.tunable == 0) {
    fmt::format_to(out, "{} of these could be improved by hand.\n", count.better);
  } else {
    fmt::format_to(out,
                   "{} of these could be improved; omx tune improves {} (--dry-run shows how, --undo "
                   "restores the former values).\n",
                   count.better, count.tunable);
  }
  return text;
}

std::string check_json(const TuningReport& report) {
  JsonWriter json;
  json.object([&] {
    json.array("interfaces", [&] {
      for (const TuningTarget& target : report.interfaces) {
        json.object([&] {
          json.field("interface", target.interface.name);
          json.field("driver", target.interface.driver);
          findings_json(json, target.findings);
        });
      }
    });
    json.object("host", [&] { findings_json(json, report.host); });
  });
  return json.take();
}

}  // namespace omx::tools
