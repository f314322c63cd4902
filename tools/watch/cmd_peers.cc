// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/cmd_peers.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "runtime/board/peers_discovery.h"
#include "tools/info/host_facts.h"
#include "tools/json.h"

namespace omx::tools {

namespace {

struct PeersOptions {
  bool discover = false;
  bool json = false;
};

const char* origin_of(const runtime::Peer& peer) {
  return peer.local ? "this host" : peer.learned ? "told by the network" : "configured";
}

void print_json(const std::vector<runtime::Peer>& peers) {
  JsonWriter json;
  json.object([&] {
    json.array("peers", [&] {
      for (const runtime::Peer& peer : peers) {
        json.object([&] {
          json.field("mac", mac_format(peer.nic));
          json.field("name", peer.name);
          json.field("local", peer.local);
          json.field("learned", peer.learned);
        });
      }
    });
  });
  fmt::print("{}", json.take());
}

int peers_run(const PeersOptions& options) {
  auto process = runtime::Process::create();
  if (!process) return failed("peers", "{}", process.error().message);
  runtime::PeerTable& table = (*process)->peers();
  if (options.discover) {
    // `found` always says no, so that discovery waits its full time for all answers.
    runtime::DiscoveryRequest request;
    request.found = [] { return false; };
    const auto asked = runtime::peers_discover((*process)->boards(), (*process)->settings(), table, request);
    if (!asked) return failed("peers", "the network cannot be asked: {}", asked.error().message);
  }
  const std::vector<runtime::Peer> peers = table.all();
  if (options.json) {
    print_json(peers);
    return kOk;
  }
  for (const runtime::Peer& peer : peers) {
    fmt::print("{} {} ({})\n", mac_format(peer.nic), peer.name.empty() ? "<unknown>" : peer.name,
               origin_of(peer));
  }
  const bool others = std::any_of(peers.begin(), peers.end(), [](const auto& peer) { return !peer.local; });
  if (!others && options.discover) {
    fmt::print("no other host answered within {} ms (OMX_DISCOVERY_MS)\n",
               (*process)->settings().discovery_ms);
  } else if (!others) {
    fmt::print("no other host is known yet: omx peers --discover asks the network\n");
  }
  return kOk;
}

}  // namespace

Command peers_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("peers", "names of NICs; any MAC address works without a name");
  auto options = std::make_shared<PeersOptions>();
  app->add_flag("--discover", options->discover, "ask the network first, for OMX_DISCOVERY_MS");
  app->add_flag("--json", options->json, "print a JSON document");
  return {app, [options] { return peers_run(*options); }};
}

}  // namespace omx::tools
