// SPDX-License-Identifier: BSD-3-Clause
// Compares two results that `omx perf` wrote (--output), size by size.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/expected.h"

namespace omx::tools {

// The least, middle and greatest figure of the repeats of a size.
struct PerfSpread {
  std::size_t count = 0;
  double least = 0, median = 0, greatest = 0;
};
// Sorts the figures. There must be one.
PerfSpread spread_of(std::vector<double>& figures);

enum class PerfChange { better, worse, noise, unknown };

// Judges a change. A change is more than noise if the repeats' ranges do not touch. With fewer than
// kRepeatsLeast repeats on a side it is unknown.
inline constexpr std::size_t kRepeatsLeast = 3;
PerfChange change_judge(const PerfSpread& before, const PerfSpread& after, bool less_is_better);

// Returns in how many comparisons, on average, chance alone keeps the ranges of so many repeats apart once.
double chance_once_in(std::size_t before, std::size_t after);

struct PerfResults {
  std::string test, settings;
  std::string figure;  // that is compared: median_us, mb_per_s or million_per_s
  std::map<std::uint64_t, std::vector<double>> of_size;
};
// Reads a document. Returns a failure that says what it lacks.
Result<PerfResults> results_read(std::string_view document);

// Returns the lines of a comparison, or a failure if the results cannot be compared.
Result<std::vector<std::string>> results_compare(const PerfResults& before, const PerfResults& after);

// Compares the files and prints what changed. Returns the exit status.
int perf_compare(const std::string& before, const std::string& after);

}  // namespace omx::tools
