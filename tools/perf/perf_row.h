// SPDX-License-Identifier: BSD-3-Clause
// What `omx perf` measured of one size.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tools/perf/perf_histogram.h"
#include "tools/perf/perf_options.h"
#include "tools/perf/perf_runner.h"

namespace omx::tools {

inline constexpr double kHalfUs =
    0.5e-3;  // microseconds of a half round trip, of a nanosecond of a whole one

// Figures of some messages. Times are half round trips of a ping-pong.
struct PerfFigures {
  std::uint64_t messages = 0;  // in one direction, of all pairs
  double seconds = 0;
  double min_us = 0, median_us = 0, p99_us = 0, mean_us = 0, max_us = 0;
  std::vector<std::pair<double, double>> percentiles;  // those of --percentiles: percent and microseconds
  // Rates over the whole time. In a stream all directions and pairs count together. In a ping-pong both ways
  // count, one message at a time.
  double per_second = 0;
  double million_per_s() const { return per_second * 1e-6; }
};

// The cost of a side.
struct PerfSpent {
  PerfUsage usage;
  std::uint64_t bytes = 0;  // sent and received
  double seconds = 0;       // of time, all steps together
  // Both return a negative number where it is not known. Without bytes there are no cycles a byte.
  double processors() const;  // that were busy
  double cycles_per_byte() const;
};

struct PerfInterval {
  double from_s = 0, to_s = 0;  // since the first message of the size; pauses between steps do not count
  PerfFigures figures;
};

struct PerfRow : PerfFigures {
  std::uint64_t size = 0;
  unsigned repeat = 1;
  std::uint64_t wanted = 0;  // more than `messages` if the time did not suffice
  bool cut_short() const { return messages < wanted; }
  double mb_per_s() const { return per_second * static_cast<double>(size) * 1e-6; }
  double gbit_per_s() const { return mb_per_s() * 8e-3; }
  PerfSpent here, there;
  // MB/s of a group's slowest and fastest sender. 0 without a group.
  double slowest_mb_per_s = 0, fastest_mb_per_s = 0;
  std::vector<PerfHistogram::Bucket> buckets;  // of round trips, with --histogram
  std::vector<PerfInterval> intervals;         // with --interval
};

// Adds up the steps of a size or an interval.
class PerfTally {
 public:
  PerfTally(const PerfOptions& options, unsigned pairs) : options_(options), pairs_(pairs) {}
  // `times` are the round trips of that step, if it was a ping-pong. `count` is that of each pair.
  void add(std::uint64_t count, const PerfTook& took, const PerfHistogram& times);
  PerfFigures figures() const;
  PerfRow row(std::uint64_t size) const;
  std::uint64_t count() const { return count_; }  // messages of each pair
  double seconds() const { return seconds_; }
  void clear();

 private:
  const PerfOptions& options_;
  const unsigned pairs_;
  std::uint64_t count_ = 0;
  double seconds_ = 0;
  PerfHistogram times_;
  bool spent_ = false;  // whether the next two hold a step
  PerfSpent here_, there_;
  double slowest_s_ = 0, fastest_s_ = 0;
  std::uint64_t receivers_ = 1;
};

}  // namespace omx::tools
