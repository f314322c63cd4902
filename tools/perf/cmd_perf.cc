// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/cmd_perf.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "base/log.h"
#include "tools/info/host_facts.h"
#include "tools/perf/perf_client.h"
#include "tools/perf/perf_compare.h"
#include "tools/perf/perf_open.h"
#include "tools/perf/perf_options.h"
#include "tools/perf/perf_server.h"

namespace omx::tools {

namespace {

constexpr const char* kFooter =
    "Without PEER: waits for clients and does what they request. With PEER: measures.\n"
    "  host a: omx perf          host b: omx perf a          (or the MAC address of a)\n"
    "Tests: pingpong (half round trips), stream (one direction), bistream (both at once),\n"
    "rate (small messages, many in flight).\n"
    "Patterns: pairs (each thread with one of the server), incast (all servers send to this process),\n"
    "all-pairs (every thread of every host, and of this one, sends to all others).\n"
    "min, median, p99 and other percentiles are half round trips; MB/s and M msg/s are computed from the "
    "time "
    "that all messages took.";

// Returns the allowed processors as /proc writes them, such as "0-1", or an empty string.
std::string cores_allowed() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Cpus_allowed_list:")) return line.substr(line.find_last_of(" \t") + 1);
  }
  return "";
}

// Prints what is wrong with the options, and returns false, if they do not fit each other.
bool options_fit(PerfOptions& options) {
  const bool group = options.pattern != PerfPattern::pairs;
  if (group && !options.test_given) options.test = PerfTest::stream;
  if (!options.sizes.empty() && !sizes_parse(options.sizes)) {
    failed("perf", "--sizes {} is not a list of sizes or ranges below 4G, such as 0:4M or 8,64K",
           options.sizes);
  } else if (group && options.test != PerfTest::stream && options.test != PerfTest::rate) {
    failed("perf", "--pattern {} measures --test stream or rate, not {}", pattern_name(options.pattern),
           test_name(options.test));
  } else if (!group && options.peers.size() > 1) {
    failed("perf", "the pattern pairs has one peer, not {}: choose --pattern incast or all-pairs for several",
           options.peers.size());
  } else if (options.test != PerfTest::pingpong && (options.histogram || !options.percentiles.empty())) {
    failed("perf",
           "--percentiles and --histogram are of round trips, which --test {} does not have: use pingpong",
           test_name(options.test));
  } else if (options.endpoint + static_cast<long>(options.threads) > 256 ||
             options.peer_endpoint + options.threads > 256) {
    failed("perf", "{} threads need endpoints beyond 255: choose a lower --endpoint or --peer-endpoint",
           options.threads);
  } else {
    return true;
  }
  return false;
}

int perf_run(PerfOptions& options) {
  if (!options.compare.empty()) return perf_compare(options.compare[0], options.compare[1]);
  if (!options_fit(options)) return kUsage;
  // The library makes the same checks. Made here, their errors carry this command's name. Warnings are off
  // meanwhile, because the library prints them later.
  g_log_level = static_cast<int>(LogLevel::error);
  const auto process = runtime::Process::create();
  if (!process) return failed("perf", "{}", process.error().message);
  if (!may_open_endpoints(&**process)) return failed("perf", "{}", no_packet_sockets((*process)->settings()));
  if (!thread_pin(options.cpu))
    return failed("perf", "cannot run on core {}: {}; this process may run on {}", options.cpu,
                  std::strerror(errno), cores_allowed());
  return options.peers.empty() ? perf_serve(options) : perf_measure(options);
}

void add_common_options(CLI::App& app, PerfOptions& o) {
  app.add_option("-b,--board", o.board, "board to use (default: any)")->check(CLI::Range(0L, 255L));
  app.add_option("-e,--endpoint", o.endpoint, "endpoint to open (default: 0 for the server, else any)")
      ->check(CLI::Range(0L, 255L));
  app.add_option("--cpu", o.cpu, "core to run on (default: not bound); with --threads the first of them")
      ->check(CLI::Range(0, CPU_SETSIZE - 1));
  app.add_option(
         "--threads", o.threads,
         "threads, each with an endpoint: consecutive ones from --endpoint, or --peer-endpoint, on; the "
         "server needs as many")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--timeout", o.timeout_s, "seconds that the other end may be silent")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
}

// Reads a list of percentages for CLI11, and throws its error if it is none.
void percentiles_set(PerfOptions& o, const std::string& text) {
  auto percentiles = percentiles_parse(text);
  if (!percentiles)
    throw CLI::ValidationError(
        "--percentiles", text + " is not a list of percentages over 0 and up to 100, such as 50,99,99.9");
  o.percentiles = std::move(*percentiles);
}

void add_result_options(CLI::App& app, PerfOptions& o, CLI::Option* peer) {
  const auto add = [&](CLI::Option* option) { option->needs(peer); };
  add(app.add_option_function<std::string>(
      "--percentiles", [&o](const std::string& text) { percentiles_set(o, text); },
      "of round trips, instead of median and p99: 50,99,99.9"));
  add(app.add_flag("--histogram", o.histogram, "print how often half round trips took how long"));
  add(app.add_option("--interval", o.interval_s, "print a line after so many seconds of a size, too")
          ->check(CLI::Range(0.01, 86400.0)));
  add(app.add_flag("--usage", o.usage,
                   "print processors that were busy and cycles a byte, here and on the servers"));
  add(app.add_option("--repeat", o.repeats, "measure all sizes this number of times")
          ->check(CLI::Range(1, 1000))
          ->capture_default_str());
  CLI::Option* csv = app.add_flag_callback(
      "--csv", [&o] { o.format = PerfFormat::csv; }, "comma-separated values");
  CLI::Option* json = app.add_flag_callback(
      "--json", [&o] { o.format = PerfFormat::json; }, "a JSON document, at the end");
  add(csv);
  add(json);
  json->excludes(csv);
  add(app.add_option("-o,--output", o.output, "write the JSON document to this file, whatever is printed"));
  add(app.add_option("--plot", o.plot,
                     "draw latency and bandwidth by size into this SVG file (needs gnuplot)"));
}

void add_client_options(CLI::App& app, PerfOptions& o, CLI::Option* peer) {
  const auto add = [&](CLI::Option* option) { option->needs(peer); };
  add(app.add_option_function<std::string>(
             "--pattern", [&o](const std::string& name) { o.pattern = *pattern_parse(name); },
             "pairs, incast or all-pairs (default: pairs); the last two take several peers")
          ->check(CLI::IsMember({"pairs", "incast", "all-pairs"})));
  add(app.add_option_function<std::string>(
             "-t,--test",
             [&o](const std::string& name) {
               o.test = *test_parse(name);
               o.test_given = true;
             },
             "pingpong, stream, bistream or rate (default: pingpong, of incast and all-pairs stream)")
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
}

}  // namespace

Command perf_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("perf", "latency, throughput and message rate between two hosts");
  auto options = std::make_shared<PerfOptions>();
  CLI::Option* peer = app->add_option("peer", options->peers,
                                      "name or MAC address of the server; without it, this is the server");
  add_common_options(*app, *options);
  add_client_options(*app, *options, peer);
  add_result_options(*app, *options, peer);
  app->add_option("--compare", options->compare,
                  "say what differs between two files of --output, and measure nothing")
      ->expected(2)
      ->excludes(peer);
  app->add_flag("--once", options->once, "server: end after one client (of each thread)")->excludes(peer);
  app->footer(kFooter);
  return {app, [options] { return perf_run(*options); }};
}

}  // namespace omx::tools
