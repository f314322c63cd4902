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
// pairs: each thread exchanges messages with one of the server. incast: all servers send to this process.
// all_pairs: all send to all.
enum class PerfPattern : std::uint32_t { pairs = 0, incast, all_pairs };
enum class PerfFormat { table, csv, json };

struct PerfOptions {
  std::vector<std::string> peers;  // empty: this is the server
  PerfTest test = PerfTest::pingpong;
  bool test_given = false;
  PerfPattern pattern = PerfPattern::pairs;
  std::uint32_t threads = 1;
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
  std::vector<double> percentiles;  // beside the median and the 99th
  bool histogram = false;
  bool usage = false;  // processor time and cycles in the table
  double interval_s = 0;
  std::uint32_t repeats = 1;
  std::string output;  // file for the JSON document
  std::string plot;    // file for the plot
  std::vector<std::string> compare;
  bool once = false;  // the server ends after one client
};

const char* test_name(PerfTest test);
std::optional<PerfTest> test_parse(std::string_view name);
const char* pattern_name(PerfPattern pattern);
std::optional<PerfPattern> pattern_parse(std::string_view name);

// Parses percentages over 0 and up to 100, such as "50,99,99.9". Returns nullopt for anything else.
std::optional<std::vector<double>> percentiles_parse(std::string_view text);

// Parses sizes. "0:4M" doubles from 0 (0, 1, 2, 4 ...) up to 4 MiB; "8,1K,64:256" is a list. Returns nullopt
// for anything else, and for a size of 4 GiB or more.
std::optional<std::vector<std::uint64_t>> sizes_parse(std::string_view text);

// The defaults of a test.
const char* default_sizes(PerfTest test);
std::uint64_t default_iterations(PerfTest test, std::uint64_t size);
// The iterations of the largest messages. Fewer than these tell little.
std::uint64_t default_iterations_least(PerfTest test);
std::uint64_t default_warm_up(std::uint64_t iterations);
std::uint32_t default_window(PerfTest test, std::uint64_t size);
// Returns the seconds after which a size ends, even if messages are missing.
double perf_limit_s(const PerfOptions& options);

}  // namespace omx::tools
