// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/info_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/cpu_list.h"
#include "config/settings_rows.h"
#include "netdev/interfaces_choose.h"
#include "tools/info/copy_facts.h"
#include "tools/json.h"

namespace omx::tools {

namespace {

using Out = std::back_insert_iterator<std::string>;

std::string state_text(const link::Interface& i) {
  std::string text = !i.up ? "down" : i.running ? "up, running" : "up, no carrier";
  text += fmt::format(", MTU {}", i.mtu);
  if (!i.kind.empty()) text += ", " + i.kind;
  if (i.speed_mbps > 0) text += fmt::format(", {} Mb/s", i.speed_mbps);
  return text;
}

void sizes_print(Out out, const char* whom, const EngineFacts& f, const runtime::Settings& settings) {
  fmt::format_to(out, "   to {} (OMX_WIRE_MODE={}):\n", whom, mode_name(f.mode));
  if (!f.connected) {
    fmt::format_to(out, "     nothing: these settings do not work with such peers\n");
    return;
  }
  fmt::format_to(out, "     up to {} bytes: one frame\n", wire::kSmallMax);
  fmt::format_to(out, "     up to {} bytes: at once, {} bytes a frame (OMX_RNDV_THRESHOLD={})\n", f.eager_max,
                 f.medium_frag, settings.protocol.rndv_threshold);
  fmt::format_to(out,
                 "     larger: rendezvous, pulled in blocks of {} frames of {} bytes, {} blocks in flight\n",
                 f.pull_frames, f.pull_reply, f.pull_blocks);
  fmt::format_to(out, "     frames up to {} bytes{}, {} checksum\n", f.frame_max,
                 f.proven_by_probe ? " once a probe of that size came back" : "", f.checksum ? "with" : "no");
}

std::string queue_text(const steering::ReceiveQueues& queues) {
  const auto first = steering::queue_find(queues, 0);
  if (!first || first->processors.empty()) return "the processor that handles arriving frames is not known";
  return fmt::format("frames for endpoint 0 are handled by processor {} ({}; {} receive queue{})",
                     cpu_list_text(first->processors), first->source, queues.count,
                     queues.count == 1 ? "" : "s");
}

void binding_print(Out out, const runtime::Settings& settings) {
  const std::string setting = steering::binding_setting_text(settings.binding);
  fmt::format_to(out, "\nThreads that open endpoints:\n");
  if (settings.binding.mode == steering::BindingMode::off) {
    fmt::format_to(
        out,
        "  stay where they are (OMX_PROCESS_BINDING=off; auto moves them to the processor where their "
        "frames arrive)\n");
    return;
  }
  fmt::format_to(out,
                 "  are moved to processors (OMX_PROCESS_BINDING={}); OMX_VERBOSE=2 shows where and why\n",
                 setting);
}

void board_print(Out out, const BoardInfo& info, const runtime::Settings& settings, bool usable) {
  const link::Interface& i = info.board.interface;
  fmt::format_to(out, " {}\n", board_text(info.board));
  fmt::format_to(out, "   {}\n", state_text(i));
  if (!i.driver.empty()) fmt::format_to(out, "   managed by driver '{}'\n", i.driver);
  if (i.numa_node >= 0) fmt::format_to(out, "   attached to numa node {}\n", i.numa_node);
  if (!i.pci_address.empty()) fmt::format_to(out, "   PCI address {}\n", i.pci_address);
  fmt::format_to(out, "   {}\n", queue_text(info.queues));
  if (!info.xdp.empty())
    fmt::format_to(out, "   AF_XDP{}: {}\n", info.xdp_works ? "" : " does not work", info.xdp);
  fmt::format_to(out, "{}", rails_text(info.rails));
  if (info.open.empty()) fmt::format_to(out, "   no endpoint is open\n");
  for (const OpenEndpoint& e : info.open)
    fmt::format_to(out, "   endpoint {} open by {}{}{}\n", e.id, holder_text(e.holder),
                   e.granted && !info.board.granted() ? ", by the broker" : "",
                   e.processors.empty() ? "" : ", bound to processor " + cpu_list_text(e.processors));
  if (!usable) return;
  sizes_print(out, "Open-MX peers", info.extended, settings);
  sizes_print(out, info.reference.mode == wire::Mode::mxoe ? "MX and Open-MX 1.x peers" : "Open-MX 1.x peers",
              info.reference, settings);
}

bool by_udp(const InfoReport& report) {
  return report.host.process && runtime::boards_by_udp(report.host.process->boards());
}

std::string road_text(const InfoReport& report, const runtime::Settings& settings) {
  if (by_udp(report))
    return runtime::boards_family(report.host.process->boards()) == link::IpFamily::v6 ? "UDP over IPv6"
                                                                                       : "UDP over IPv4";
  std::string text = "raw Ethernet frames";
  if (settings.link == runtime::LinkKind::xdp) text += " by AF_XDP";
  if (report.host.process && runtime::boards_granted(report.host.process->boards()))
    text += " by sockets of the broker";
  if (settings.udp_bulk) text += ", large ones by UDP where both ends have IP addresses of one network";
  return text;
}

void local_print(Out out, const LocalFacts& local, const runtime::Settings& settings) {
  fmt::format_to(out, "\nProcesses of this host:\n");
  if (!local.used) {
    fmt::format_to(out, "  by the cable, as between hosts (OMX_LOCAL=0)\n");
    return;
  }
  fmt::format_to(out, "  up to {} bytes: at once through shared memory (OMX_LOCAL_RNDV_THRESHOLD={})\n",
                 local.threshold,
                 settings.intra_node.rndv_threshold ? std::to_string(settings.intra_node.rndv_threshold)
                                                    : "auto, as measured now");
  fmt::format_to(out, "  larger: {}, {}\n", local.one_copy ? "one copy" : "two copies", local.reason);
}

void progress_print(Out out, const runtime::Settings& settings) {
  fmt::format_to(out, "\nWhile the application computes:\n");
  const std::string cpus =
      fmt::format("on processors \"{}\" (OMX_PROGRESS_CPUS)", settings.waiting.progress_cpus);
  switch (settings.waiting.progress) {
    case runtime::ProgressMode::off:
      fmt::format_to(out, "  nothing moves until its next call (OMX_PROGRESS=off)\n");
      break;
    case runtime::ProgressMode::automatic:
      fmt::format_to(out,
                     "  a thread per endpoint takes over, {}; it rests while the application calls "
                     "(OMX_PROGRESS=auto)\n",
                     cpus);
      break;
    case runtime::ProgressMode::always:
      fmt::format_to(
          out, "  a thread per endpoint takes over, {}; each frame wakes it (OMX_PROGRESS=always)\n", cpus);
      break;
  }
}

void local_json(JsonWriter& json, const LocalFacts& local) {
  json.object("same_host", [&] {
    json.field("shared_memory", local.used);
    json.field("eager_max", local.threshold);
    json.field("copies", local.one_copy ? 1 : 2);
    json.field("reason", local.reason);
  });
}

void facts_json(JsonWriter& json, const char* key, const EngineFacts& f) {
  json.object(key, [&] {
    json.field("works", f.connected);
    json.field("wire_mode", mode_name(f.mode));
    json.field("largest_frame", f.frame_max);
    json.field("eager_max", f.eager_max);
    json.field("medium_fragment", f.medium_frag);
    json.field("pull_reply", f.pull_reply);
    json.field("pull_frames", f.pull_frames);
    json.field("pull_blocks", f.pull_blocks);
    json.field("checksum", f.checksum);
  });
}

void board_json(JsonWriter& json, const BoardInfo& info) {
  const link::Interface& i = info.board.interface;
  json.object([&] {
    json.field("number", info.board.number);
    json.field("hostname", info.board.hostname);
    json.field("interface", i.name);
    json.field("mac", mac_format(i.nic));
    json.field("mtu", i.mtu);
    json.field("driver", i.driver);
    json.field("kind", i.kind);
    json.field("speed_mbps", i.speed_mbps);
    json.field("numa_node", i.numa_node);
    json.field("pci_address", i.pci_address);
    json.field("up", i.up);
    json.field("running", i.running);
    json.field("xdp_works", info.xdp_works);
    json.field("xdp", info.xdp);
    json.array("receive_queues", [&] {
      for (const steering::ReceiveQueue& queue : info.queues.queues) {
        json.object([&] {
          json.field("number", queue.number);
          json.field("processors", cpu_list_text(queue.processors));
          json.field("source", queue.source);
        });
      }
    });
    json.field("rails_problem", info.rails.problem);
    json.array("rails", [&] {
      for (const RailFact& rail : info.rails.rails) {
        json.object([&] {
          json.field("interface", rail.interface);
          json.field("used", rail.used);
          json.field("note", rail.note);
        });
      }
    });
    // One element for each endpoint; -1 means that its processor is switched off.
    json.array("steered_to", [&] {
      if (!steering::steering_decides(info.queues)) return;
      for (const int cpu : info.queues.steered.processors) json.field({}, cpu);
    });
    json.array("endpoints", [&] {
      for (const OpenEndpoint& e : info.open) {
        json.object([&] {
          json.field("id", e.id);
          json.field("by_broker", e.granted);
          json.field("pid", e.holder.pid);
          json.field("command", e.holder.command);
          json.field("bound_to", cpu_list_text(e.processors));
        });
      }
    });
    facts_json(json, "with_open_mx_peers", info.extended);
    facts_json(json, "with_mx_peers", info.reference);
  });
}

}  // namespace

const char* mode_name(wire::Mode mode) {
  return mode == wire::Mode::omx ? "omx" : "mxoe";
}

std::string info_obstacle(const InfoReport& report) {
  if (!report.host.process) return "there is no usable interface";
  const runtime::LinkKind link = report.host.settings.link;
  if (!report.permitted)
    return fmt::format(
        "OMX_LINK={} needs packet sockets{}", runtime::link_name(link),
        link == runtime::LinkKind::automatic ? ", or an interface with an IP address, for UDP" : "");
  const auto& boards = report.boards;
  const bool none = !boards.empty() && std::all_of(boards.begin(), boards.end(), [](const BoardInfo& b) {
    return !b.rails.problem.empty();
  });
  return none ? "OMX_RAILS is impossible, for the reason below" : "";
}

std::string info_text(const InfoReport& report) {
  std::string text;
  Out out = std::back_inserter(text);
  const runtime::Settings& settings = report.host.settings;
  fmt::format_to(out, "Open-MX version {}\n", OMX_VERSION);
  fmt::format_to(out, " configuration file: {}\n",
                 settings.config_file.empty() ? "none" : settings.config_file);
  fmt::format_to(out, " packet sockets (CAP_NET_RAW): {}\n",
                 report.packet_sockets ? "allowed" : "not allowed");
  fmt::format_to(out, " broker (OMX_BROKER={}): {}\n", settings.broker, report.broker);
  const std::string obstacle = info_obstacle(report);
  if (obstacle.empty())
    fmt::format_to(out, " messages go by {} (OMX_LINK={})\n\n", road_text(report, settings),
                   runtime::link_name(settings.link));
  else
    fmt::format_to(out, " no endpoint can be opened: {}\n\n", obstacle);
  fmt::format_to(out, "Found {} board{} supporting {} endpoints{}:\n", report.boards.size(),
                 report.boards.size() == 1 ? "" : "s", settings.endpoints_max,
                 report.boards.size() == 1 ? "" : " each");
  for (const BoardInfo& board : report.boards)
    board_print(out, board, settings, obstacle.empty() && board.rails.problem.empty());
  bool first = true;
  for (const link::Choice& choice : report.host.choices) {
    if (choice.taken) continue;
    if (first) fmt::format_to(out, "\nInterfaces not used:\n");
    first = false;
    fmt::format_to(out, " {}: {}\n", choice.interface.name, choice.reason);
  }
  local_print(out, report.local, settings);
  progress_print(out, settings);
  binding_print(out, settings);
  text += copy_text(report.copy_engines);
  fmt::format_to(out, "\nlibfabric provider, for MPI:\n  {}\n", provider_text(report.provider));
  fmt::format_to(out, "\nPeer table, {} name{}:\n", report.peers.size(), report.peers.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < report.peers.size(); i++) {
    const runtime::Peer& peer = report.peers[i];
    fmt::format_to(out, "  {}) {} {}\n", i, mac_format(peer.nic),
                   peer.name.empty() ? "<unknown>" : peer.name);
  }
  return text;
}

std::string info_json(const InfoReport& report) {
  JsonWriter json;
  json.object([&] {
    json.field("version", OMX_VERSION);
    json.field("config_file", report.host.settings.config_file);
    json.field("packet_sockets_allowed", report.packet_sockets);
    json.field("broker", report.broker);
    json.field("no_endpoint_because", info_obstacle(report));
    const bool xdp = report.host.settings.link == runtime::LinkKind::xdp;
    json.field("link", by_udp(report) ? "udp" : xdp ? "xdp" : "ethernet");
    json.field("endpoints_max", report.host.settings.endpoints_max);
    local_json(json, report.local);
    json.object("progress", [&] {
      json.field("mode", runtime::progress_name(report.host.settings.waiting.progress));
      json.field("cpus", report.host.settings.waiting.progress_cpus);
    });
    json.field("process_binding", steering::binding_setting_text(report.host.settings.binding));
    copy_json(json, report.copy_engines);
    json.object("libfabric_provider", [&] {
      json.field("file", report.provider.file);
      json.field("found_by_libfabric", report.provider.found);
      json.field("problem", report.provider.problem);
    });
    json.array("boards", [&] {
      for (const BoardInfo& board : report.boards) board_json(json, board);
    });
    json.array("interfaces_not_used", [&] {
      for (const link::Choice& choice : report.host.choices) {
        if (choice.taken) continue;
        json.object([&] {
          json.field("interface", choice.interface.name);
          json.field("reason", choice.reason);
        });
      }
    });
    json.array("peers", [&] {
      for (const runtime::Peer& peer : report.peers) {
        json.object([&] {
          json.field("mac", mac_format(peer.nic));
          json.field("name", peer.name);
          json.field("local", peer.local);
        });
      }
    });
    json.array("warnings", [&] {
      for (const std::string& warning : report.warnings) json.element(warning);
    });
  });
  return json.take();
}

std::string settings_text(const runtime::Settings& settings) {
  std::string text;
  Out out = std::back_inserter(text);
  fmt::format_to(out,
                 "# Each is an environment variable, or a line \"key = value\" of {}\n"
                 "# (OMX_CONFIG names another file). The environment wins.\n",
                 runtime::kDefaultConfigFile);
  for (const runtime::SettingRow& row : runtime::settings_rows(settings)) {
    fmt::format_to(out, "{}={}\n    {}\n", row.variable, row.value, row.help);
    fmt::format_to(out, "    from: {}; accepted: {}\n", row.origin, row.accepted);
    fmt::format_to(out, "    in the file: {}{}{}\n", row.key.empty() ? "not possible" : row.key,
                   *row.alias ? "; also: " : "", row.alias);
  }
  return text;
}

std::string settings_json(const runtime::Settings& settings) {
  JsonWriter json;
  json.object([&] {
    json.array("settings", [&] {
      for (const runtime::SettingRow& row : runtime::settings_rows(settings)) {
        json.object([&] {
          json.field("variable", row.variable);
          json.field("value", row.value);
          json.field("origin", row.origin);
          json.field("accepted", row.accepted);
          json.field("file_key", row.key);
          json.field("alias", row.alias);
          json.field("help", row.help);
        });
      }
    });
  });
  return json.take();
}

}  // namespace omx::tools
