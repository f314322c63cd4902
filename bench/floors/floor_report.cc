// SPDX-License-Identifier: BSD-3-Clause
#include "bench/floors/floor_report.h"

#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

namespace omx::bench {

double percentile(const std::vector<double>& sorted, double fraction) {
  return sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))];
}

void add_server_options(CLI::App& app, Options& options) {
  app.add_option("--cpu", options.cpu, "core to run on (default: not bound)");
  app.add_flag("--forever", options.forever, "serve one client after the other");
}

void add_time_limit(CLI::App& app, Options& options) {
  app.add_option("--at-most", options.at_most,
                 "seconds after which it ends, whatever is left (default: no limit)")
      ->check(CLI::Range(0.01, 86400.0));
}

void add_client_options(CLI::App& app, Options& options) {
  app.add_option("--cpu", options.cpu, "core to run on (default: not bound)");
  app.add_option("--sizes", options.sizes, "sizes in bytes, comma-separated")->delimiter(',');
  app.add_option("--repeats", options.repeats, "how often the list of sizes is measured")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "ping-pong: round trips per size and repeat")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--warm-up", options.warm_up, "ping-pong: round trips before, not counted")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "stream: duration per size and repeat")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--csv", options.csv, "comma-separated values instead of a JSON object per line");
}

void pin(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) < 0)
    die(1, "cannot run on core {}: {}", cpu, std::strerror(errno));
}

void Report::reserve(std::size_t size, std::size_t samples) {
  samples_[size].reserve(samples);
  lost_[size] += 0;
}

void Report::print_latency() {
  if (options_.csv) fmt::print("test,size,min_us,median_us,mean_us,p99_us,lost\n");
  for (auto& [size, values] : samples_) {
    if (values.empty()) continue;
    std::sort(values.begin(), values.end());
    const char* format = options_.csv
                             ? "{},{},{:.3f},{:.3f},{:.3f},{:.3f},{}\n"
                             : "{{\"test\":\"{}\",\"size\":{},\"min_us\":{:.3f},\"median_us\":{:.3f},"
                               "\"mean_us\":{:.3f},\"p99_us\":{:.3f},\"lost\":{},\"p999_us\":{:.3f}}}\n";
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    fmt::print(fmt::runtime(format), test_, size, values.front(), percentile(values, 0.5), mean,
               percentile(values, 0.99), lost_[size], percentile(values, 0.999));
  }
  std::fflush(stdout);
}

void Report::print_rate() {
  if (options_.csv) fmt::print("test,size,gbps,mps,min_gbps,max_gbps,lost\n");
  for (auto& [size, values] : samples_) {
    if (values.empty()) continue;
    std::sort(values.begin(), values.end());
    std::sort(per_second_[size].begin(), per_second_[size].end());
    const char* format = options_.csv ? "{},{},{:.3f},{:.4f},{:.3f},{:.3f},{}\n"
                                      : "{{\"test\":\"{}\",\"size\":{},\"gbps\":{:.3f},\"mps\":{:.4f},"
                                        "\"min_gbps\":{:.3f},\"max_gbps\":{:.3f},\"lost\":{}}}\n";
    fmt::print(fmt::runtime(format), test_, size, percentile(values, 0.5), percentile(per_second_[size], 0.5),
               values.front(), values.back(), lost_[size]);
  }
  std::fflush(stdout);
}

}  // namespace omx::bench
