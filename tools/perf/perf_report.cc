// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/json.h"

namespace omx::tools {

namespace {

double percentile(const std::vector<double>& sorted, double fraction) {
  return sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

double PerfRow::mb_per_s() const {
  return per_second * static_cast<double>(size) * 1e-6;
}

PerfRow row_of_samples(std::uint64_t size, std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  PerfRow row;
  row.size = size;
  row.messages = samples.size();
  for (const double us : samples) row.seconds += 2e-6 * us;
  row.min_us = samples.front();
  row.median_us = percentile(samples, 0.5);
  row.p99_us = percentile(samples, 0.99);
  row.per_second = 2 * static_cast<double>(row.messages) / row.seconds;
  return row;
}

PerfRow row_of_stream(PerfTest test, std::uint64_t size, std::uint64_t messages, double seconds) {
  PerfRow row;
  row.size = size;
  row.messages = messages;
  row.seconds = seconds;
  const double directions = test == PerfTest::bistream ? 2 : 1;
  row.per_second = directions * static_cast<double>(messages) / seconds;
  return row;
}

PerfReport::PerfReport(const PerfOptions& options, std::string from, std::string to)
    : options_(options), from_(std::move(from)), to_(std::move(to)) {
  if (options_.format == PerfFormat::table) {
    fmt::print("{} with {}{}{}{}\n", test_name(options_.test), to_,
               options_.blocking ? ", blocking waits" : "", options_.sync ? ", synchronous sends" : "",
               options_.verify ? ", every byte checked (times include that)" : "");
  }
  print_head();
}

void PerfReport::print_head() const {
  if (options_.format == PerfFormat::csv) {
    fmt::print("test,size,messages,seconds,min_us,median_us,p99_us,mb_per_s,gbit_per_s,million_per_s\n");
  } else if (options_.format == PerfFormat::table && options_.test == PerfTest::pingpong) {
    fmt::print("{:>10} {:>9} {:>11} {:>11} {:>11} {:>11} {:>9}\n", "bytes", "messages", "min us", "median us",
               "p99 us", "MB/s", "Gb/s");
  } else if (options_.format == PerfFormat::table) {
    fmt::print("{:>10} {:>9} {:>11} {:>11} {:>9}\n", "bytes", "messages", "M msg/s", "MB/s", "Gb/s");
  }
  std::fflush(stdout);
}

void PerfReport::add(const PerfRow& row) {
  rows_.push_back(row);
  print_row(row);
}

void PerfReport::print_row(const PerfRow& row) const {
  if (options_.format == PerfFormat::csv) {
    fmt::print("{},{},{},{:.6f},{:.3f},{:.3f},{:.3f},{:.3f},{:.4f},{:.5f}\n", test_name(options_.test),
               row.size, row.messages, row.seconds, row.min_us, row.median_us, row.p99_us, row.mb_per_s(),
               row.gbit_per_s(), row.million_per_s());
  } else if (options_.format == PerfFormat::table && options_.test == PerfTest::pingpong) {
    fmt::print("{:>10} {:>9} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.1f} {:>9.2f}\n", row.size, row.messages,
               row.min_us, row.median_us, row.p99_us, row.mb_per_s(), row.gbit_per_s());
  } else if (options_.format == PerfFormat::table) {
    fmt::print("{:>10} {:>9} {:>11.4f} {:>11.1f} {:>9.2f}\n", row.size, row.messages, row.million_per_s(),
               row.mb_per_s(), row.gbit_per_s());
  }
  std::fflush(stdout);
}

void PerfReport::finish() {
  if (options_.format == PerfFormat::json) print_json();
  if (options_.format == PerfFormat::table) print_cuts();
}

void PerfReport::print_cuts() const {
  const auto cut = [](const PerfRow& row) { return row.cut_short(); };
  if (std::none_of(rows_.begin(), rows_.end(), cut)) return;
  fmt::print("fewer messages than planned, as a size may take {:g} s (--max-time, --iterations):\n",
             perf_limit_s(options_));
  for (const PerfRow& row : rows_) {
    if (row.cut_short()) fmt::print("  {} bytes: {} of {}\n", row.size, row.messages, row.wanted);
  }
  std::fflush(stdout);
}

void PerfReport::print_json() const {
  JsonWriter json;
  json.object([&] {
    json.field("test", test_name(options_.test));
    json.field("from", from_);
    json.field("to", to_);
    json.field("blocking", options_.blocking);
    json.field("synchronous", options_.sync);
    json.field("verified", options_.verify);
    json.array("results", [&] {
      for (const PerfRow& row : rows_) {
        json.object([&] {
          json.field("size", row.size);
          json.field("messages", row.messages);
          json.field("cut_short", row.cut_short());
          json.field("seconds", row.seconds);
          if (options_.test == PerfTest::pingpong) {
            json.field("min_us", row.min_us);
            json.field("median_us", row.median_us);
            json.field("p99_us", row.p99_us);
          }
          json.field("mb_per_s", row.mb_per_s());
          json.field("gbit_per_s", row.gbit_per_s());
          json.field("million_per_s", row.million_per_s());
        });
      }
    });
  });
  fmt::print("{}", json.take());
  std::fflush(stdout);
}

}  // namespace omx::tools
