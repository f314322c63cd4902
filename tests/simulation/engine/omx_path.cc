// SPDX-License-Identifier: BSD-3-Clause
// Throughput over long and bad paths, beside the formula for TCP:
//   omx_path                                          a table
//   omx_path --delay 10000 --loss 1 --length 256K     one path
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "simulation/engine/path.h"

namespace {

using omx::simulation::PathOptions;

void show(const PathOptions& o) {
  const auto r = omx::simulation::path_run(o);
  fmt::print("{:8.2f} {:6.1f} {:7.1f} ", static_cast<double>(o.delay) / 1e6, o.loss * 100, o.reorder * 100);
  if (!r.failure.empty()) {
    fmt::print("FAILED: {}\n", r.failure);
    return;
  }
  fmt::print("{:10.3f} {:10.3f} {:7.1f} {:9.1f}{}\n", r.bytes_per_second / 1e6, r.tcp_bytes_per_second / 1e6,
             r.bytes_per_second / r.tcp_bytes_per_second, r.resent_share * 100,
             r.given_up > 0 ? "  a peer was given up" : "");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Streams messages over a simulated path that delays, loses and reorders frames.");
  PathOptions o;
  std::vector<double> delays{10, 100, 1000, 10000, 100000}, losses{0, 0.1, 1, 5}, reorders{0, 1, 10};
  double megabits = static_cast<double>(o.bits_per_second) / 1e6, held = 0, seconds = 2;
  app.add_option("--delay", delays, "time from one host to the other, microseconds; each of several values")
      ->capture_default_str();
  app.add_option("--loss", losses, "percent of frames that are lost; each of several values")
      ->capture_default_str();
  app.add_option("--reorder", reorders, "percent of frames that are held back; each of several values")
      ->capture_default_str();
  app.add_option("--held", held,
                 "longest time that they are held back, microseconds; 0: a fifth of the delay")
      ->capture_default_str();
  app.add_option("--rate", megabits, "rate of the path, Mb/s")->capture_default_str();
  app.add_option("--queue", o.queue_bytes,
                 "queue of the port to the receiver, bytes; 0: a round trip, at least 256K")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--length", o.length, "length of a message, bytes")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--window", o.window, "messages under way")->capture_default_str();
  app.add_flag("--sleeps", o.sleeps, "the receiver sleeps while it waits");
  app.add_option("--mtu", o.mtu, "MTU of the path")->capture_default_str();
  app.add_option("--time", seconds, "time that is measured, seconds")->capture_default_str();
  app.add_option("--seed", o.seed, "seed of the faults")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  o.bits_per_second = static_cast<std::uint64_t>(megabits * 1e6);
  o.held_most = static_cast<omx::simulation::TimeNs>(held * 1e3);
  o.time = static_cast<omx::simulation::TimeNs>(seconds * 1e9);
  fmt::print("Messages of {} bytes, {} under way, MTU {}, {} Mb/s.\n", o.length, o.window, o.mtu, megabits);
  fmt::print("delay/ms loss/% reord/%       MB/s   TCP MB/s   ratio sent again %\n");
  for (const double delay : delays) {
    for (const double loss : losses) {
      for (const double reorder : reorders) {
        o.delay = static_cast<omx::simulation::TimeNs>(delay * 1e3);
        o.loss = loss / 100;
        o.reorder = reorder / 100;
        show(o);
      }
    }
  }
  return 0;
}
