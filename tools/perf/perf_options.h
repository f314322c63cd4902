// SPDX-License-Identifier: BSD-3-Clause
// What `omx perf` was asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omx::tools {

enum class PerfTest : std::uint32_t { pingpong = 0, stream, bistream, rate };
enum class PerfFormat { table, csv, json };

struct PerfOptions {
  std::string peer;  // empty: this is the server
  PerfTest test = PerfTest::pingpong;
  PerfFormat format = PerfFormat::table;
  std::string sizes;             // empty: what suits the test
  std::uint64_t iterations = 0;  // 0: what suits the size
  std::uint64_t warm_up = 0;
  bool warm_up_given = false;
  double min_time_s = 0;
  double max_time_s = -1;    // negative: a few seconds, for ever when the iterations are given
  std::uint32_t window = 0;  // 0: what suits the size
  bool verify = false;
  bool sync = false;
  bool blocking = false;
  int cpu = -1;
  long board = -1;     // -1: any
  long endpoint = -1;  // -1: any for a client, 0 for the server
  std::uint32_t peer_endpoint = 0;
  std::uint32_t timeout_s = 10;
  bool once = false;  // the server ends after one client
};

const char* test_name(PerfTest test);
std::optional<PerfTest> test_parse(std::string_view name);

// "0:4M" doubles from 0 (0, 1, 2, 4 ...) up to 4 MiB; "8,1K,64:256" lists. nullopt: not of this form, or a
// size of 4 GiB or more.
std::optional<std::vector<std::uint64_t>> sizes_parse(std::string_view text);

// What suits a test where the command line says nothing.
const char* default_sizes(PerfTest test);
std::uint64_t default_iterations(PerfTest test, std::uint64_t size);
std::uint64_t default_warm_up(std::uint64_t iterations);
std::uint32_t default_window(PerfTest test, std::uint64_t size);
// Seconds after which a size is ended although not all of its messages were exchanged.
double perf_limit_s(const PerfOptions& options);

// The two halves of `omx perf`; they return the exit status.
int perf_serve(const PerfOptions& options);
int perf_measure(const PerfOptions& options);

}  // namespace omx::tools
