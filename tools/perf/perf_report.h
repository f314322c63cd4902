// SPDX-License-Identifier: BSD-3-Clause
// Prints the figures of `omx perf` in three forms. Table and CSV appear line by line, JSON at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/perf/perf_options.h"

namespace omx::tools {

struct PerfRow {
  std::uint64_t size = 0;
  std::uint64_t messages = 0;  // in one direction
  std::uint64_t wanted = 0;    // more than `messages` if the time did not suffice
  bool cut_short() const { return messages < wanted; }
  double seconds = 0;
  // Half round trips of a ping-pong.
  double min_us = 0, median_us = 0, p99_us = 0;
  // Rates over the whole time. In a stream all directions count together. In a ping-pong both ways count, one
  // message at a time.
  double mb_per_s() const;
  double gbit_per_s() const { return mb_per_s() * 8e-3; }
  double million_per_s() const { return per_second * 1e-6; }
  double per_second = 0;
};

// Computes the row of a ping-pong. Sorts the samples.
PerfRow row_of_samples(std::uint64_t size, std::vector<double>& samples);
PerfRow row_of_stream(PerfTest test, std::uint64_t size, std::uint64_t messages, double seconds);

class PerfReport {
 public:
  PerfReport(const PerfOptions& options, std::string from, std::string to);
  void add(const PerfRow& row);
  void finish();

 private:
  void print_head() const;
  void print_row(const PerfRow& row) const;
  void print_json() const;
  void print_cuts() const;

  const PerfOptions& options_;
  const std::string from_, to_;
  std::vector<PerfRow> rows_;
};

}  // namespace omx::tools
