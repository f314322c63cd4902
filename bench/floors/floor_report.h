// SPDX-License-Identifier: BSD-3-Clause
// Shared by the programs that measure the floor: options, clock, binding, figures and their output.
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

// Buffer of large messages, larger than a core's caches.
inline constexpr std::size_t kMessageBytes = 4U << 20;

// Ends the program. Status 77 means that this user or machine cannot run it.
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
  double at_most = 0;      // seconds after which a ping-pong ends, whatever is left; 0: no limit
  double seconds = 0.5;    // duration of a stream, for each size and repeat
  double warm_up_seconds = 0.1;
  bool csv = false;
  bool forever = false;  // the server continues when the client is done
};

// Add the options above. The role decides which; a time limit is of ping-pongs that heed it (TimeLimit).
void add_time_limit(CLI::App& app, Options& options);
void add_client_options(CLI::App& app, Options& options);
void add_server_options(CLI::App& app, Options& options);

using Clock = std::chrono::steady_clock;
inline double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// The limit --at-most of a ping-pong that begins with this object.
class TimeLimit {
 public:
  explicit TimeLimit(const Options& options) : seconds_(options.at_most), began_(Clock::now()) {}
  // Takes the time that the caller has just read.
  void look(Clock::time_point now) { over_ = seconds_ > 0 && seconds_between(began_, now) > seconds_; }
  bool over() const { return over_; }

 private:
  const double seconds_;
  const Clock::time_point began_;
  bool over_ = false;
};

// Returns a percentile of sorted samples, of which there must be at least one.
double percentile(const std::vector<double>& sorted, double fraction);

// Binds this thread to a core. -1 leaves it unbound.
void pin(int cpu);

// Collects samples. Repeats are interleaved (all sizes, then all sizes again ...), so that a disturbance
// affects more than one size. All samples of a size are pooled.
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

  // Prints one line for each size.
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
