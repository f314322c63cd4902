// SPDX-License-Identifier: BSD-3-Clause
// The options of `omx perf`.
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
  std::string sizes;             // empty: default_sizes()
  std::uint64_t iterations = 0;  // 0: default_iterations()
  std::uint64_t warm_up = 0;
  bool warm_up_given = false;
  double min_time_s = 0;
  double max_time_s = -1;    // negative: 3 s, or no limit if the iterations are given
  std::uint32_t window = 0;  // 0: default_window()
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

// Parses sizes. "0:4M" doubles from 0 (0, 1, 2, 4 ...) up to 4 MiB; "8,1K,64:256" is a list. Returns nullopt
// for anything else, and for a size of 4 GiB or more.
std::optional<std::vector<std::uint64_t>> sizes_parse(std::string_view text);

// The defaults of a test.
const char* default_sizes(PerfTest test);
std::uint64_t default_iterations(PerfTest test, std::uint64_t size);
std::uint64_t default_warm_up(std::uint64_t iterations);
std::uint32_t default_window(PerfTest test, std::uint64_t size);
// Returns the seconds after which a size ends, even if messages are missing.
double perf_limit_s(const PerfOptions& options);

}  // namespace omx::tools
