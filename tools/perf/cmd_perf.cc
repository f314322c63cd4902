// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/cmd_perf.h"

#include <sched.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "base/log.h"
#include "tools/info/host_facts.h"
#include "tools/perf/perf_client.h"
#include "tools/perf/perf_options.h"
#include "tools/perf/perf_server.h"

namespace omx::tools {

namespace {

constexpr const char* kFooter =
    "Without PEER: waits for clients and does what they request. With PEER: measures.\n"
    "  host a: omx perf          host b: omx perf a          (or the MAC address of a)\n"
    "Tests: pingpong (half round trips), stream (one direction), bistream (both at once),\n"
    "rate (small messages, many in flight).\n"
    "min, median and p99 are half round trips; MB/s and M msg/s are computed from the time that all messages "
    "took.";

// Returns the allowed processors as /proc writes them, such as "0-1", or an empty string.
std::string cores_allowed() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Cpus_allowed_list:")) return line.substr(line.find_last_of(" \t") + 1);
  }
  return "";
}

bool pin(int cpu) {
  if (cpu < 0) return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

int perf_run(const PerfOptions& options) {
  if (!options.sizes.empty() && !sizes_parse(options.sizes)) {
    failed("perf", "--sizes {} is not a list of sizes or ranges below 4G, such as 0:4M or 8,64K",
           options.sizes);
    return kUsage;
  }
  // The library makes the same checks. Made here, their errors carry this command's name. Warnings are off
  // meanwhile, because the library prints them later.
  g_log_level = static_cast<int>(LogLevel::error);
  const auto process = runtime::Process::create();
  if (!process) return failed("perf", "{}", process.error().message);
  if (!may_open_endpoints(&**process)) return failed("perf", "{}", no_packet_sockets((*process)->settings()));
  if (!pin(options.cpu))
    return failed("perf", "cannot run on core {}: {}; this process may run on {}", options.cpu,
                  std::strerror(errno), cores_allowed());
  return options.peer.empty() ? perf_serve(options) : perf_measure(options);
}

void add_common_options(CLI::App& app, PerfOptions& o) {
  app.add_option("-b,--board", o.board, "board to use (default: any)")->check(CLI::Range(0L, 255L));
  app.add_option("-e,--endpoint", o.endpoint, "endpoint to open (default: 0 for the server, else any)")
      ->check(CLI::Range(0L, 255L));
  app.add_option("--cpu", o.cpu, "core to run on (default: not bound)")
      ->check(CLI::Range(0, CPU_SETSIZE - 1));
  app.add_option("--timeout", o.timeout_s, "seconds that the other end may be silent")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
}

void add_client_options(CLI::App& app, PerfOptions& o, CLI::Option* peer) {
  const auto add = [&](CLI::Option* option) { option->needs(peer); };
  add(app.add_option_function<std::string>(
             "-t,--test", [&o](const std::string& name) { o.test = *test_parse(name); },
             "pingpong, stream, bistream or rate (default: pingpong)")
          ->check(CLI::IsMember({"pingpong", "stream", "bistream", "rate"})));
  add(app.add_option("-s,--sizes", o.sizes, "bytes of a message: 0:4M (doubling), 8,1K,64K, or both"));
  add(app.add_option("-n,--iterations", o.iterations, "messages per size (default: by size)")
          ->check(CLI::Range(1, 1000000000)));
  add(app.add_option_function<std::uint64_t>(
             "--warmup",
             [&o](std::uint64_t n) {
               o.warm_up = n;
               o.warm_up_given = true;
             },
             "messages before, not counted (default: a tenth)")
          ->check(CLI::Range(0, 1000000000)));
  add(app.add_option("--min-time", o.min_time_s, "seconds per size at least; repeats the iterations")
          ->check(CLI::Range(0.0, 86400.0)));
  add(app.add_option(
             "--max-time", o.max_time_s,
             "seconds per size at most, 0: no limit (default: 3, or --min-time if that is more; no limit "
             "with --iterations)")
          ->check(CLI::Range(0.0, 86400.0)));
  add(app.add_option("-w,--window", o.window, "streams: messages in flight (default: by size)")
          ->check(CLI::Range(1, 65536)));
  add(app.add_flag("--verify", o.verify, "check every byte, on both sides"));
  add(app.add_flag("--sync", o.sync, "synchronous sends (mx_issend)"));
  add(app.add_flag(
      "--wait", o.blocking,
      "blocking waits (mx_wait) instead of polling, on both sides; OMX_SPIN_US says how long they "
      "poll first"));
  add(app.add_option("--peer-endpoint", o.peer_endpoint, "endpoint of the server")
          ->check(CLI::Range(0, 255))
          ->capture_default_str());
  CLI::Option* csv = app.add_flag_callback(
      "--csv", [&o] { o.format = PerfFormat::csv; }, "comma-separated values");
  CLI::Option* json = app.add_flag_callback(
      "--json", [&o] { o.format = PerfFormat::json; }, "a JSON document, at the end");
  add(csv);
  add(json);
  json->excludes(csv);
}

}  // namespace

Command perf_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("perf", "latency, throughput and message rate between two hosts");
  auto options = std::make_shared<PerfOptions>();
  CLI::Option* peer = app->add_option("peer", options->peer,
                                      "name or MAC address of the server; without it, this is the server");
  add_common_options(*app, *options);
  add_client_options(*app, *options, peer);
  app->add_flag("--once", options->once, "server: end after one client")->excludes(peer);
  app->footer(kFooter);
  return {app, [options] { return perf_run(*options); }};
}

}  // namespace omx::tools
