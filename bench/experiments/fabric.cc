// SPDX-License-Identifier: BSD-3-Clause
// Real engines and modelled TCP flows on a simulated fabric with short queues:
//   omx_fabric incast --senders 16 --size 1M --rate 1 --queue 64K --tcp 1 --duration 500
//   omx_fabric traffic --hosts 1024 --leaf 32 --oversubscription 4 --workload web-search --load 0.5
//   omx_fabric peers --hosts 1001
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "bench/experiments/arguments.h"
#include "bench/experiments/fabric_report.h"
#include "simulation/fabric/message_sizes.h"

namespace {

using namespace omx::bench;
using namespace omx::simulation::fabric;
using omx::simulation::TimeNs;

constexpr std::uint64_t kMostBytes = 1ULL << 40, kMostSeed = 1'000'000'000'000'000'000;
constexpr std::uint32_t kEthernetHeader = 14;

TimeNs ns(double value, double unit) {
  return static_cast<TimeNs>(value * unit);
}

void tcp_kind_option(CLI::App& app, TcpKind& kind) {
  app.add_option_function<std::string>(
         "--tcp-kind",
         [&kind](const std::string& name) { kind = name == "reno" ? TcpKind::reno : TcpKind::cubic; },
         "congestion control of the TCP flows (default cubic)")
      ->check(CLI::IsMember({"cubic", "reno"}));
}

// The options of the fabric, which all commands have.
void fabric_options(CLI::App& app, FabricProgram& o) {
  FabricOptions& f = o.fabric;
  const auto bytes = [&](const char* name, auto& value, std::uint64_t least, const char* text) {
    app.add_option(name, value, text)->transform(byte_size(least, kMostBytes))->capture_default_str();
  };
  app.add_option("--hosts", f.tree.hosts,
                 "hosts at the switches; more are added where the command needs them")
      ->check(CLI::Range(2, 200000))
      ->capture_default_str();
  app.add_option("--leaf", f.tree.hosts_per_leaf, "hosts at each leaf; 0: all at one switch")
      ->check(whole_number(0, 200'000))
      ->capture_default_str();
  app.add_option("--pod", f.tree.leaves_per_pod, "leaves of a pod")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--oversubscription", f.tree.oversubscription,
                 "rate of a leaf's hosts over that of its links upwards")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--rate", o.gigabits, "rate of all links, Gb/s")
      ->check(CLI::Range(0.01, 1000.0))
      ->capture_default_str();
  app.add_option("--delay", o.delay_us, "delay of a link and the forwarding behind it, us")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  bytes("--queue", f.queue_bytes, 1, "queue of each port of a switch, bytes");
  bytes("--mark", f.mark_bytes, 0, "mark frames that find so many bytes in a queue; 0: none");
  bytes("--nic-queue", f.nic_bytes, 1, "bytes in the queue of a host's NIC from which the host waits");
  app.add_option("--mtu", f.config.mtu, "MTU of the links")
      ->check(CLI::Range(576, 65521))
      ->capture_default_str();
  app.add_option("--poll-least", o.poll_least_us,
                 "shortest time from a frame's arrival to the host's poll, us")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--poll-most", o.poll_most_us, "longest such time, us")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--seed", f.seed, "first seed")->check(whole_number(0, kMostSeed))->capture_default_str();
  app.add_option("--seeds", o.seeds, "runs, each with the next seed")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_flag("--json", o.json, "print a JSON object for each run");
}

void incast_options(CLI::App& app, FabricProgram& o) {
  IncastOptions& i = o.incast;
  app.add_option("--senders", i.senders, "hosts that send to the first one")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--size", i.length, "bytes of a message")
      ->transform(byte_size(0, UINT32_MAX))
      ->capture_default_str();
  app.add_option("--messages", i.messages, "messages of each sender, one after the other")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--at-once", i.at_once, "messages of a sender under way at once")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--duration", o.duration_ms, "instead of --messages: how long senders begin messages, ms")
      ->check(CLI::Range(0.001, 1e6));
  app.add_option("--tcp", i.tcp_flows, "TCP flows to the same host, each from a host of its own")
      ->check(whole_number(0, 100'000))
      ->capture_default_str();
  tcp_kind_option(app, i.tcp_kind);
  app.add_option("--tcp-alone", o.alone_ms,
                 "how long TCP runs before the others start, ms; half of it is measured")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--ping", o.ping_us,
                 "one more host sends a message of 8 B so often after the last came, us; 0: none")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

int incast(FabricProgram& o) {
  o.incast.duration = ns(o.duration_ms, 1e6);
  o.incast.tcp_alone = ns(o.alone_ms, 1e6);
  o.incast.ping_every = ns(o.ping_us, 1e3);
  int status = 0;
  const std::uint64_t first = o.fabric.seed;
  for (std::uint64_t seed = first; seed < first + o.seeds; seed++) {
    o.incast.fabric = o.fabric;
    o.incast.fabric.seed = seed;
    const IncastResult r = incast_run(o.incast);
    (o.json ? incast_json : incast_text)(o, seed, r);
    if (r.failure.empty()) continue;
    fmt::print(stderr, "omx_fabric: seed {}: {}\n", seed, r.failure);
    status = 1;
  }
  return status;
}

void traffic_options(CLI::App& app, FabricProgram& o) {
  TrafficOptions& t = o.traffic;
  app.add_option("--workload", o.workload, fmt::format("sizes of messages: {}", kMessageSizeNames))
      ->capture_default_str();
  app.add_option("--load", t.load, "bytes sent, relative to the rate of the narrowest tier of links")
      ->check(CLI::Range(0.001, 2.0))
      ->capture_default_str();
  app.add_option("--duration", o.traffic_ms, "how long messages are sent, ms")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  app.add_option("--patience", o.patience_ms, "how long after that the last message may take, ms")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--tcp", t.tcp_flows, "TCP flows between random hosts")
      ->check(whole_number(0, 100'000))
      ->capture_default_str();
  tcp_kind_option(app, t.tcp_kind);
}

int traffic(FabricProgram& o) {
  if (!message_sizes(o.workload)) {
    fmt::print(stderr, "omx_fabric: there is no workload \"{}\"; there are {}\n", o.workload,
               kMessageSizeNames);
    return kUsage;
  }
  o.traffic.workload = o.workload;
  o.traffic.duration = ns(o.traffic_ms, 1e6);
  o.traffic.patience = ns(o.patience_ms, 1e6);
  int status = 0;
  for (std::uint64_t seed = o.fabric.seed; seed < o.fabric.seed + o.seeds; seed++) {
    o.traffic.fabric = o.fabric;
    o.traffic.fabric.seed = seed;
    TrafficResult r = traffic_run(o.traffic);
    if (r.failure.empty()) {
      (o.json ? traffic_json : traffic_text)(o, seed, r);
      std::fflush(stdout);
      continue;
    }
    fmt::print(stderr, "omx_fabric: seed {}: {}\n", seed, r.failure);
    status = 1;
  }
  return status;
}

int peers(const FabricProgram& o) {
  const PeerMemoryResult r = peer_memory_run(o.fabric);
  if (!r.failure.empty()) {
    fmt::print(stderr, "omx_fabric: {}\n", r.failure);
    return 1;
  }
  peers_print(o, r);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs real engines beside modelled TCP flows on a simulated fabric with short queues.",
               "omx_fabric");
  app.require_subcommand(1);
  FabricProgram o;
  CLI::App& run_incast =
      *app.add_subcommand("incast", "many senders to one host, with TCP flows beside them");
  fabric_options(run_incast, o);
  incast_options(run_incast, o);
  CLI::App& run_traffic = *app.add_subcommand("traffic", "messages between all hosts at random times");
  fabric_options(run_traffic, o);
  traffic_options(run_traffic, o);
  CLI::App& run_peers = *app.add_subcommand("peers", "the memory of idle peers of the first host");
  fabric_options(run_peers, o);
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  FabricOptions& f = o.fabric;
  if (f.queue_bytes < f.config.mtu + kEthernetHeader) {
    fmt::print(stderr, "omx_fabric: --queue must hold a frame of --mtu {}, which has {} bytes\n",
               f.config.mtu, f.config.mtu + kEthernetHeader);
    return kUsage;
  }
  if (o.poll_most_us < o.poll_least_us) {
    fmt::print(stderr, "omx_fabric: --poll-most must be at least --poll-least, which is {} us\n",
               o.poll_least_us);
    return kUsage;
  }
  if (f.mark_bytes >= f.queue_bytes && f.mark_bytes > 0) {
    fmt::print(
        stderr,
        "omx_fabric: --mark must be less than --queue, which is {} bytes, or nothing would be marked\n",
        f.queue_bytes);
    return kUsage;
  }
  f.bits_per_second = static_cast<std::uint64_t>(o.gigabits * 1e9);
  f.delay = ns(o.delay_us, 1e3);
  f.poll_least = ns(o.poll_least_us, 1e3);
  f.poll_most = ns(o.poll_most_us, 1e3);
  return run_incast.parsed() ? incast(o) : run_traffic.parsed() ? traffic(o) : peers(o);
}
