// SPDX-License-Identifier: BSD-3-Clause
#include "steer_print.h"

#include <fmt/format.h>

#include <numeric>

#include "base/text.h"
#include "json.h"

namespace omx::tools {

namespace {

using steering::SteerState;

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

std::string state_text(const SteerState& state) {
  std::string text;
  for (std::size_t e = 0; e < state.endpoints.size(); e++) {
    const steering::EndpointCounts& counts = state.endpoints[e];
    const std::uint64_t stayed = sum(counts.stayed), moved = sum(counts.moved);
    if (stayed + moved == 0) continue;
    text += fmt::format("  endpoint {} on processor {}: {} frames arrived there, {} elsewhere", e,
                        state.table[e], stayed, moved);
    const char* before = " (";
    for (std::size_t cpu = 0; cpu < counts.moved.size(); cpu++) {
      if (counts.moved[cpu] == 0) continue;
      text += fmt::format("{}processor {}: {}", before, cpu, counts.moved[cpu]);
      before = ", ";
    }
    text += moved ? ")\n" : "\n";
  }
  return text.empty() ? "  no frames for endpoints so far\n" : text;
}

void state_json(JsonWriter& json, const SteerState& state) {
  json.array("table", [&] {
    for (const std::uint32_t cpu : state.table) json.field({}, cpu);
  });
  json.array("endpoints", [&] {
    for (std::size_t e = 0; e < state.endpoints.size(); e++) {
      const steering::EndpointCounts& counts = state.endpoints[e];
      if (sum(counts.stayed) + sum(counts.moved) == 0) continue;
      json.object([&] {
        json.field("endpoint", e);
        json.field("processor", state.table[e]);
        json.field("stayed", sum(counts.stayed));
        json.array("moved_from", [&] {
          for (const std::uint64_t count : counts.moved) json.field({}, count);
        });
      });
    }
  });
}

}  // namespace

std::string steer_text(const std::vector<SteerReport>& reports, const std::string& interface) {
  std::string text;
  bool steered = false;
  for (const SteerReport& report : reports) {
    const steering::Attachment& a = *report.attachment;
    if (!a.ours) {
      text += fmt::format("{}: another XDP program, \"{}\" (id {}, {})\n", a.interface, shown(a.name), a.id,
                          xdp_mode_name(a.mode));
      continue;
    }
    steered = true;
    text += fmt::format("{}: steered in {} mode (program {}){}{}\n", a.interface, xdp_mode_name(a.mode), a.id,
                        report.state ? ", endpoints " : "; ",
                        report.state ? steering::steer_table_text(report.state->table) : report.problem);
    if (report.state) text += state_text(*report.state);
  }
  if (!steered) {
    text += interface.empty() ? "no interface is steered\n" : fmt::format("{} is not steered\n", interface);
  }
  return text;
}

std::string steer_json(const std::vector<SteerReport>& reports) {
  JsonWriter json;
  json.object([&] {
    json.array("interfaces", [&] {
      for (const SteerReport& report : reports) {
        const steering::Attachment& a = *report.attachment;
        json.object([&] {
          json.field("interface", a.interface);
          json.field("ours", a.ours);
          json.field("program", a.name);
          json.field("id", a.id);
          json.field("mode", xdp_mode_name(a.mode));
          if (!report.problem.empty()) json.field("problem", report.problem);
          if (report.state) state_json(json, *report.state);
        });
      }
    });
  });
  return json.take();
}

}  // namespace omx::tools
