// SPDX-License-Identifier: BSD-3-Clause
// omx_floor: measures what bare packet sockets reach on this machine, without any protocol. No program that
// sends frames through the kernel can be faster, so Open-MX is compared with this.
#include "bench/floors/floor_pingpong.h"
#include "bench/floors/floor_stream.h"

#include <CLI/CLI.hpp>

namespace {

using omx::NicId;
using omx::bench::FloorOptions;

struct Roles {
  CLI::App* server;
  CLI::App* client;
};

Roles add_roles(CLI::App& test, FloorOptions& options) {
  test.require_subcommand(1);
  CLI::App* server = test.add_subcommand("server", "answer a client");
  CLI::App* client = test.add_subcommand("client", "measure and print");
  for (CLI::App* role : {server, client}) {
    role->add_option("--interface", options.interface, "name of the Ethernet interface")->required();
    role->add_flag("--qdisc-bypass", options.qdisc_bypass, "send past the queueing discipline");
  }
  omx::bench::add_server_options(*server, options);
  omx::bench::add_client_options(*client, options);
  client->add_option("--peer", options.peer, "MAC address of the server's interface")->required();
  return {server, client};
}

NicId peer_of(const FloorOptions& options) {
  const auto peer = omx::mac_parse(options.peer);
  if (!peer) omx::bench::die(2, "--peer {} is not a MAC address", options.peer);
  return *peer;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Latency and rate of bare packet sockets between two hosts");
  app.require_subcommand(1);
  FloorOptions options;
  CLI::App* pingpong = app.add_subcommand("pingpong", "half round trips of one frame");
  const Roles pingpong_roles = add_roles(*pingpong, options);
  for (CLI::App* role : {pingpong_roles.server, pingpong_roles.client})
    role->add_flag("--blocking", options.blocking, "sleep until a frame comes, instead of polling");
  omx::bench::add_time_limit(*pingpong_roles.client, options);
  CLI::App* stream =
      app.add_subcommand("stream", "full frames into the final place; size: payload of a frame");
  const Roles stream_roles = add_roles(*stream, options);
  for (CLI::App* role : {stream_roles.server, stream_roles.client}) {
    role->add_option("--batch", options.batch, "frames per system call")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    role->add_option("--window", options.window, "frames in flight, same on both sides")
        ->check(CLI::Range(4, 1 << 20))
        ->capture_default_str();
  }
  stream_roles.client->add_flag(
      "--messages", options.messages,
      "the sizes are of messages: each is cut into frames, and the last may be short");
  CLI11_PARSE(app, argc, argv);

  if (options.window < options.batch) omx::bench::die(2, "--window must not be below --batch");
  omx::bench::pin(options.cpu);
  if (*pingpong_roles.server) {
    omx::bench::pingpong_server(options);
  } else if (*pingpong_roles.client) {
    if (options.sizes.empty()) options.sizes = {1, 16, 64, 256, 1024, 1400, 4096, 8192};
    omx::bench::pingpong_client(options, peer_of(options));
  } else if (*stream_roles.server) {
    omx::bench::stream_server(options);
  } else {
    omx::bench::stream_client(options, peer_of(options));
  }
  return 0;
}
