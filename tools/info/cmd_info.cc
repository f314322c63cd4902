// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/cmd_info.h"
#include "runtime/board/broker_boards.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "link/ethernet/xdp_link.h"
#include "link/packet/packet_socket.h"
#include "tools/info/info_print.h"
#include "tools/info/protocol_facts.h"
#include "wire/sizes.h"

namespace omx::tools {

namespace {

// Ethernet's standard MTU. A smaller one is a misconfiguration.
constexpr std::uint32_t kEthernetMtu = 1500;

struct InfoOptions {
  long board = -1;
  bool json = false;
  bool settings = false;
  bool protocols = false;
};

void interface_warn(const link::Interface& i, std::vector<std::string>& warnings) {
  if (!i.up) {
    warnings.push_back(fmt::format("{0} is down: ip link set dev {0} up", i.name));
  } else if (!i.running) {
    warnings.push_back(fmt::format("{} has no carrier: check the cable and the other end", i.name));
  }
  if (i.mtu < kEthernetMtu) {
    warnings.push_back(
        fmt::format("{0} has an MTU of {1}, less than Ethernet's {2}: ip link set dev {0} mtu {2}", i.name,
                    i.mtu, kEthernetMtu));
  }
}

std::vector<std::string> warnings_of(const InfoReport& report) {
  std::vector<std::string> warnings;
  if (!report.host.process) warnings.push_back(report.host.no_boards.message);
  if (!report.permitted) warnings.push_back(no_packet_sockets(report.host.settings));
  for (const BoardInfo& board : report.boards) {
    interface_warn(board.board.interface, warnings);
    if (!board.extended.connected || !board.reference.connected) {
      warnings.push_back(fmt::format("board {}: these settings cannot work; omx info --settings shows them",
                                     board.board.number));
    }
  }
  return warnings;
}

// Tries AF_XDP as opening an endpoint would, and undoes everything again.
void xdp_try(const runtime::Settings& settings, BoardInfo& info) {
  const auto facts =
      link::xdp_trial(runtime::xdp_options(settings, {.interface = info.board.interface.name}));
  info.xdp_works = facts.has_value();
  info.xdp = facts ? link::xdp_facts_text(*facts) : facts.error().message;
  if (!facts) return;
  const std::uint32_t mtu =
      std::min(info.board.mtu, facts->largest_frame - static_cast<std::uint32_t>(wire::kEthernetHeader));
  info.extended = engine_facts(settings.protocol, mtu, settings.protocol.extension);
  info.reference = engine_facts(settings.protocol, mtu, false);
}

// Returns what this process has of the broker, or why it has nothing. `frames_error` is errno of opening a
// packet socket, or 0.
std::string broker_text(const InfoReport& report, int frames_error) {
  const runtime::Settings& settings = report.host.settings;
  if (settings.broker == "off") return "not asked";
  // Without an interface it was asked nevertheless.
  const bool own = report.host.process && !runtime::boards_granted(report.host.process->boards());
  if (report.packet_sockets && own) return "not asked, because this process may open packet sockets itself";
  if (!report.packet_sockets ? !runtime::broker_wanted(settings, frames_error)
                             : !runtime::broker_allowed(settings))
    return fmt::format("not asked (OMX_LINK={})", runtime::link_name(settings.link));
  const auto boards = runtime::boards_of_broker(settings);
  if (!boards) return boards.error().message;
  const bool trusted =
      std::any_of(boards->begin(), boards->end(), [](const runtime::Board& board) { return board.trusted; });
  return fmt::format(
      "{} grants raw frames, {}", runtime::broker_path(settings),
      trusted ? "by sockets on the interface itself" : "confined to the endpoints of this user");
}

int info_run(const InfoOptions& options) {
  auto host = host_facts_find();
  if (!host) return failed("info", "{}", host.error().message);
  if (options.settings) {
    fmt::print("{}", options.json ? settings_json(host->settings) : settings_text(host->settings));
    return kOk;
  }

  InfoReport report;
  report.host = std::move(*host);
  const int frames_error = link::packet_sockets_possible();
  report.packet_sockets = frames_error == 0;
  report.broker = broker_text(report, frames_error);
  report.permitted = may_open_endpoints(report.host.process ? &*report.host.process : nullptr);
  const runtime::Settings& settings = report.host.settings;
  if (report.host.process) {
    auto boards = boards_select(report.host.process->boards(), options.board);
    if (!boards) return failed("info", "{}", boards.error().message);
    for (runtime::Board& board : *boards) {
      BoardInfo info;
      for (const runtime::Board& watched : runtime::boards_watched({board}, settings)) {
        const auto open = endpoints_open(watched, settings);
        info.open.insert(info.open.end(), open.begin(), open.end());
      }
      info.extended = engine_facts(settings.protocol, board.mtu, settings.protocol.extension);
      info.reference = engine_facts(settings.protocol, board.mtu, false);
      link::Interface interface = board.interface;
      interface.nic = board.mac;
      const auto udp = runtime::datagram_ports(board, settings);
      info.queues = steering::receive_queues_read("", interface, udp ? &*udp : nullptr);
      info.rails = rails_facts_find(report.host, board);
      info.board = std::move(board);
      if (settings.link == runtime::LinkKind::xdp) xdp_try(settings, info);
      report.boards.push_back(std::move(info));
    }
    report.peers = report.host.process->peers().all();
  }
  report.local = local_facts_find(settings);
  if (options.protocols) {
    const ProtocolFacts facts = protocol_facts_find(settings);
    fmt::print("{}", options.json ? protocols_json(report, facts) : protocols_text(report, facts));
    return report.host.process ? kOk : failed("info", "{}", report.host.no_boards.message);
  }
  report.provider = provider_facts_find();
  report.copy_engines = copy::engine_list();
  report.warnings = warnings_of(report);

  fmt::print("{}", options.json ? info_json(report) : info_text(report));
  std::fflush(stdout);
  if (!options.json) {
    for (const std::string& warning : report.warnings) warned("{}", warning);
  }
  return report.host.process ? kOk : kFailed;
}

}  // namespace

Command info_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("info", "boards, endpoints in use, peers, and what is wrong");
  auto options = std::make_shared<InfoOptions>();
  app->add_option("-b,--board", options->board, "only this board")->check(CLI::Range(0, kBoardMost));
  app->add_flag("--json", options->json, "print a JSON document");
  app->add_flag("--settings", options->settings, "print all tunables and their values in force instead");
  app->add_flag("--protocols", options->protocols,
                "print how a message of each size travels, and why; measures copies for some milliseconds");
  return {app, [options] { return info_run(*options); }};
}

}  // namespace omx::tools
