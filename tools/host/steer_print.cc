// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/steer_print.h"

#include <fmt/format.h>

#include <numeric>

#include "base/cpu_list.h"
#include "base/text.h"
#include "link/udp/udp_options.h"
#include "tools/json.h"

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

// Returns the endpoint to which the rule's port belongs.
unsigned endpoint_of(const FlowReport& report, const steering::FlowRule& rule) {
  return static_cast<unsigned>(rule.port - report.port) % link::kUdpBulkPorts;
}

std::vector<int> processors_of(const FlowReport& report, const steering::FlowRule& rule) {
  for (const steering::ReceiveQueue& queue : report.queues.queues)
    if (queue.number == static_cast<int>(rule.queue)) return queue.processors;
  return {};
}

std::string flows_text(const FlowReport& report) {
  std::string text = fmt::format("{}: flow rules for UDP\n", report.interface);
  for (const steering::FlowRule& rule : report.rules) {
    const auto cpus = processors_of(report, rule);
    text += fmt::format("  endpoint {}, port {} of IPv{}: into queue {}{}\n", endpoint_of(report, rule),
                        rule.port, rule.ipv6 ? 6 : 4, rule.queue,
                        cpus.empty() ? "" : ", processor " + cpu_list_text(cpus));
  }
  return text;
}

void flows_json(JsonWriter& json, const FlowReport& report) {
  for (const steering::FlowRule& rule : report.rules) {
    json.object([&] {
      json.field("interface", report.interface);
      json.field("endpoint", endpoint_of(report, rule));
      json.field("port", rule.port);
      json.field("ip", rule.ipv6 ? 6 : 4);
      json.field("queue", rule.queue);
      json.field("place", rule.place);
      json.array("processors", [&] {
        for (const int cpu : processors_of(report, rule)) json.field({}, cpu);
      });
    });
  }
}

void arrivals_json(JsonWriter& json, const Arrivals& arrivals) {
  json.object([&] {
    json.field("interface", arrivals.interface);
    json.field("missed", arrivals.missed);
    json.array("endpoints", [&] {
      // No names for the two parts: clang takes those of a lambda's surroundings from 16 on.
      for (const auto& arrived : arrivals.endpoints) {
        json.object([&] {
          json.field("endpoint", arrived.first);
          json.array("frames", [&] {
            for (const std::uint64_t count : arrived.second) json.field({}, count);
          });
        });
      }
    });
  });
}

}  // namespace

std::string steer_text(const std::vector<SteerReport>& reports, const std::vector<FlowReport>& flows,
                       const std::string& interface) {
  std::string text;
  bool steered = !flows.empty();
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
  for (const FlowReport& report : flows) text += flows_text(report);
  if (!steered) {
    text += interface.empty() ? "no interface is steered\n" : fmt::format("{} is not steered\n", interface);
  }
  return text;
}

std::string steer_json(const std::vector<SteerReport>& reports, const std::vector<FlowReport>& flows,
                       const std::vector<Arrivals>& arrivals) {
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
    json.array("flow_rules", [&] {
      for (const FlowReport& report : flows) flows_json(json, report);
    });
    json.array("arrivals", [&] {
      for (const Arrivals& one : arrivals) arrivals_json(json, one);
    });
  });
  return json.take();
}

}  // namespace omx::tools
