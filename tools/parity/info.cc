// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/info.h"

#include <algorithm>

#include "runtime/board/peers_discovery.h"
#include "tools/parity/parity.h"

namespace omx::tools {

namespace {

constexpr const char* kName = "omx_info";
constexpr unsigned kBoardsMost = 256;  // numbers of MX boards have 8 bits
constexpr std::uint32_t kEthernetMtu = 1500;

int usage() {
  fmt::print(stderr,
             "omx_info [options]\n -b <n>\tonly board n\n -q\tboards only\n -v\talso drivers and peers "
             "(default)\n -h\tthis text\n");
  return kParityFailed;
}

void board_print(const runtime::Board& board, bool verbose) {
  const link::Interface& i = board.interface;
  fmt::print(" {}\n", parity_title(board));
  if (!verbose) return;
  if (!i.driver.empty()) fmt::print("   managed by driver '{}'\n", i.driver);
  if (i.numa_node >= 0) fmt::print("   attached to numa node {}\n", i.numa_node);
}

void board_warn(const link::Interface& i) {
  if (!i.up) message_print("WARNING", fmt::format("{0} is DOWN: ip link set dev {0} up", i.name));
  if (i.mtu < kEthernetMtu) {
    message_print("WARNING", fmt::format("{0} has an invalid MTU of {1}: ip link set dev {0} mtu {2}", i.name,
                                         i.mtu, kEthernetMtu));
  }
}

// Prints the peers that answer now, because no daemon keeps a table of them. There is no mapper either, as
// with a static table of Open-MX 1.x.
void peers_print(runtime::Process& process) {
  runtime::DiscoveryRequest request;
  request.found = [] { return false; };
  const bool may_ask = process.settings().discovery_ms > 0 && may_open_endpoints(&process);
  if (may_ask && !runtime::boards_by_udp(process.boards())) {
    const auto asked =
        runtime::peers_discover(process.boards(), process.settings(), process.peers(), request);
    if (!asked) message_print("WARNING", "the network was not asked: " + asked.error().message);
  }
  fmt::print("\nPeer table is ready, mapper is {}\n{:=<48}\n", mac_format(kBroadcastNic), "");
  unsigned index = 0;
  std::vector<runtime::Peer> peers = process.peers().all();
  std::stable_partition(peers.begin(), peers.end(), [](const runtime::Peer& peer) { return peer.local; });
  for (const runtime::Peer& peer : peers) {
    fmt::print("  {}) {} {}\n", index++, mac_format(peer.nic), peer.name.empty() ? "<unknown>" : peer.name);
  }
}

}  // namespace

int parity_info(int argc, char** argv) {
  long only = -1;
  bool verbose = true;
  for (int option; (option = parity_option(kName, argc, argv, "b:qvh")) != -1;) {
    if (option == 'b') {
      const auto number = parity_number(kName, 'b', optarg, kBoardsMost - 1);
      if (!number) return kParityFailed;
      only = *number;
    } else if (option == 'q' || option == 'v') {
      verbose = option == 'v';
    } else {
      return usage();
    }
  }
  auto host = host_facts_find();
  if (!host) return parity_failed(kName, "{}", host.error().message);
  if (verbose) fmt::print("Open-MX version {}\n build: in user space, for any kernel\n\n", OMX_VERSION);
  std::vector<runtime::Board> boards;
  if (host->process) {
    auto selected = boards_select(host->process->boards(), only);
    if (!selected) return parity_failed(kName, "{}", selected.error().message);
    boards = std::move(*selected);
  }
  fmt::print("Found {} boards ({} max) supporting {} endpoints each:\n",
             host->process ? host->process->boards().size() : 0, kBoardsMost, host->settings.endpoints_max);
  for (const runtime::Board& board : boards) {
    board_print(board, verbose);
    board_warn(board.interface);
  }
  if (!host->process) return parity_failed(kName, "{}", host->no_boards.message);
  if (verbose) peers_print(*host->process);
  return 0;
}

}  // namespace omx::tools
