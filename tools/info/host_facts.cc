// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/host_facts.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/affinity.h"
#include "config/settings_environment.h"
#include "link/packet/packet_socket.h"
#include "netdev/interfaces_choose.h"
#include "runtime/board/resolver.h"
#include "steering/queues.h"

namespace omx::tools {

namespace {

constexpr int kMxNoDev = 5;
constexpr int kMxBoardUnknown = 8;

}  // namespace

Result<HostFacts> host_facts_find() {
  HostFacts facts;
  auto settings = runtime::settings_load();
  if (!settings) return tl::unexpected(settings.error());
  facts.settings = std::move(*settings);
  auto choices = link::interfaces_choose(link::interfaces_list(), facts.settings.interfaces);
  if (!choices) return tl::unexpected(choices.error());
  facts.choices = std::move(*choices);
  auto process = runtime::Process::create(facts.settings);
  if (process) {
    facts.process = std::move(*process);
  } else if (process.error().mx_code == kMxNoDev) {
    facts.no_boards = process.error();
  } else {
    return tl::unexpected(process.error());
  }
  return facts;
}

Result<std::vector<runtime::Board>> boards_select(const std::vector<runtime::Board>& boards, long number) {
  if (number < 0) return boards;
  for (const runtime::Board& board : boards) {
    if (board.number == static_cast<std::uint32_t>(number)) return std::vector{board};
  }
  return fail(kMxBoardUnknown, fmt::format("there is no board {}; this host has {} (omx info shows them)",
                                           number, boards.size()));
}

std::vector<OpenEndpoint> endpoints_open(const runtime::Board& board, const runtime::Settings& settings) {
  std::vector<OpenEndpoint> open;
  const std::vector<int> online = processors_online();
  for (std::uint32_t id = 0; id < settings.endpoints_max; id++) {
    if (!runtime::claim_held(board.interface.index, id)) continue;
    const auto holder = runtime::claim_holder(board.interface.index, id);
    if (!holder) continue;
    open.push_back(
        {id, *holder, board.granted(), holder->pid ? affinity_read(holder->pid) : std::vector<int>{}});
    if (open.back().processors == online) open.back().processors.clear();
  }
  return open;
}

std::string holder_text(const runtime::ClaimHolder& holder) {
  if (!holder.pid) return "a process that is not visible from here";
  return fmt::format("pid {} ({})", holder.pid, holder.command);
}

bool may_open_endpoints(const runtime::Process* process) {
  return (process &&
          (runtime::boards_by_udp(process->boards()) || runtime::boards_granted(process->boards()))) ||
         link::packet_sockets_possible() == 0;
}

std::string no_packet_sockets(const runtime::Settings& settings) {
  // With OMX_LINK=auto an interface that has an IP address would have been used already.
  const char* const udp = settings.link == runtime::LinkKind::automatic
                              ? "or give an interface an IP address, so that messages go by UDP"
                              : "or let messages go by UDP (OMX_LINK=udp, on all hosts)";
  return fmt::format(
      "this process may not open packet sockets, so it can open no endpoint: run as root, or give the "
      "program the capability (setcap cap_net_raw+ep PROGRAM), or the container (docker run --cap-add "
      "NET_RAW), or start the broker (systemctl start omxd.socket), {}",
      udp);
}

std::string board_text(const runtime::Board& board) {
  std::string how;
  if (board.udp) how = ", by UDP, " + runtime::address_name(board.interface.nic);
  if (board.granted()) how = board.trusted ? ", by the broker, trusted" : ", by the broker, confined";
  return fmt::format("{} (board #{} name {} addr {}{})", board.hostname, board.number, board.interface.name,
                     mac_format(board.interface.nic), how);
}

}  // namespace omx::tools
