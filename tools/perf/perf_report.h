// SPDX-License-Identifier: BSD-3-Clause
// Prints the figures of `omx perf` as a table or CSV, line by line, or as JSON at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/perf/perf_options.h"
#include "tools/perf/perf_row.h"

namespace omx::tools {

class PerfReport {
 public:
  // `members` counts the endpoints of a group.
  PerfReport(const PerfOptions& options, std::uint64_t members);
  void interval(std::uint64_t size, const PerfInterval& interval) const;
  void add(const PerfRow& row);
  // Prints what is known at the end only. `json` is the document.
  void finish(const std::string& json) const;

  const std::vector<PerfRow>& rows() const { return rows_; }

 private:
  struct Column {
    std::string head;
    int width = 0;  // 0 in CSV
    std::function<std::string(const PerfRow&)> text;
  };

  void columns_table();
  void columns_csv();
  void print_title(std::uint64_t members) const;
  void print_line(const std::function<std::string(const Column&)>& text) const;
  void print_short() const;
  void print_usage_notes() const;

  const PerfOptions& options_;
  std::vector<Column> columns_;
  std::vector<PerfRow> rows_;
};

// Returns the one line about sizes for which the time did not suffice, or nothing. A number of messages that
// the user did not choose is worth a word only where so few were possible that their figures tell little.
std::string short_line(const PerfOptions& options, const std::vector<PerfRow>& rows);
// Returns what must be known about a side's processor time and cycles.
std::vector<std::string> usage_notes(const PerfUsage& usage, const char* side);
// Returns the lines of a histogram of half round trips, from buckets of round trips.
std::vector<std::string> histogram_lines(const std::vector<PerfHistogram::Bucket>& buckets);

// Returns the JSON document.
std::string perf_json(const PerfOptions& options, const std::string& from, const std::vector<PerfRow>& rows);

}  // namespace omx::tools
