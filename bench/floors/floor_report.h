// SPDX-License-Identifier: BSD-3-Clause
// What omx_floor and omx_tcp_peer share: options, clock, pinning, figures and their output.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace omx::bench {

inline constexpr std::size_t kMessageBytes =
    4U << 20;  // the buffer of a large message: larger than a core's caches

// Exit status: 77 when this user or machine cannot run it.
template <class... Args>
[[noreturn]] void die(int status, fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "{}\n", fmt::format(format, std::forward<Args>(args)...));
  std::exit(status);
}

struct Options {
  std::vector<std::size_t> sizes;
  int cpu = -1;
  int repeats = 5;
  int iterations = 20000;  // round trips per size and repeat
  int warm_up = 2000;      // round trips before them, not counted
  double seconds = 0.5;    // of a stream per size and repeat
  double warm_up_seconds = 0.1;
  bool csv = false;
  bool forever = false;  // server: stay when the client is done
};

// The options above; which of them depends on the test and the role.
void add_client_options(CLI::App& app, Options& options);
void add_server_options(CLI::App& app, Options& options);

using Clock = std::chrono::steady_clock;
inline double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// Of sorted samples, of which there must be one.
double percentile(const std::vector<double>& sorted, double fraction);

// Binds this thread to a core; -1 leaves it where it is.
void pin(int cpu);

// Repeats are interleaved (all sizes, then all sizes again ...), so that a disturbance does not hit one size
// only; samples of one size are pooled.
class Report {
 public:
  Report(std::string test, const Options& options) : test_(std::move(test)), options_(options) {}

  void latency(std::size_t size, double microseconds) { samples_[size].push_back(microseconds); }
  void rate(std::size_t size, double gbps, double million_per_second) {
    samples_[size].push_back(gbps);
    per_second_[size].push_back(million_per_second);
  }
  void lost(std::size_t size, std::uint64_t count) { lost_[size] += count; }
  void reserve(std::size_t size, std::size_t samples);

  // One line per size.
  void print_latency();
  void print_rate();

 private:
  std::string test_;
  const Options& options_;
  std::map<std::size_t, std::vector<double>> samples_;
  std::map<std::size_t, std::vector<double>> per_second_;
  std::map<std::size_t, std::uint64_t> lost_;
};

}  // namespace omx::bench
