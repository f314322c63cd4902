// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdio>

namespace omx::tools {

namespace {

// Returns a number that may be unknown, in which case it is negative.
std::string known_text(double value, int digits) {
  return value < 0 ? "-" : fmt::format("{:.{}f}", value, digits);
}

std::string percent_name(double percent) {
  return fmt::format("p{:g}", percent);
}

double percentile_of(const PerfRow& row, std::size_t index) {
  return index < row.percentiles.size() ? row.percentiles[index].second : 0;
}

}  // namespace

PerfReport::PerfReport(const PerfOptions& options, std::uint64_t members) : options_(options) {
  if (options_.format == PerfFormat::json) return;
  if (options_.format == PerfFormat::csv) {
    columns_csv();
  } else {
    columns_table();
    print_title(members);
  }
  print_line([](const Column& column) { return column.head; });
}

void PerfReport::print_title(std::uint64_t members) const {
  const std::string peers = fmt::format("{}", fmt::join(options_.peers, ", "));
  std::string what = fmt::format("{} with {}", test_name(options_.test), peers);
  if (options_.pattern == PerfPattern::incast)
    what = fmt::format("incast, {}: {} members, those of {} send to this host", test_name(options_.test),
                       members, peers);
  if (options_.pattern == PerfPattern::all_pairs)
    what = fmt::format("all-pairs, {}: {} members, of this host and {}", test_name(options_.test), members,
                       peers);
  if (options_.pattern == PerfPattern::pairs && options_.threads > 1)
    what += fmt::format(", {} threads", options_.threads);
  fmt::print("{}{}{}{}\n", what, options_.blocking ? ", blocking waits" : "",
             options_.sync ? ", synchronous sends" : "",
             options_.verify ? ", every byte checked (times include that)" : "");
}

void PerfReport::columns_table() {
  const auto add = [this](std::string head, int width, auto text) {
    columns_.push_back({std::move(head), width, text});
  };
  if (options_.repeats > 1)
    add("repeat", 6, [](const PerfRow& row) { return fmt::format("{}", row.repeat); });
  add("bytes", 10, [](const PerfRow& row) { return fmt::format("{}", row.size); });
  add("messages", 9, [](const PerfRow& row) { return fmt::format("{}", row.messages); });
  if (options_.test == PerfTest::pingpong) {
    add("min us", 11, [](const PerfRow& row) { return fmt::format("{:.2f}", row.min_us); });
    if (options_.percentiles.empty()) {
      add("median us", 11, [](const PerfRow& row) { return fmt::format("{:.2f}", row.median_us); });
      add("p99 us", 11, [](const PerfRow& row) { return fmt::format("{:.2f}", row.p99_us); });
    } else {
      for (std::size_t i = 0; i < options_.percentiles.size(); i++)
        add(percent_name(options_.percentiles[i]) + " us", 11,
            [i](const PerfRow& row) { return fmt::format("{:.2f}", percentile_of(row, i)); });
      add("max us", 11, [](const PerfRow& row) { return fmt::format("{:.2f}", row.max_us); });
    }
  } else {
    add("M msg/s", 11, [](const PerfRow& row) { return fmt::format("{:.4f}", row.million_per_s()); });
  }
  add("MB/s", 11, [](const PerfRow& row) { return fmt::format("{:.1f}", row.mb_per_s()); });
  add("Gb/s", 9, [](const PerfRow& row) { return fmt::format("{:.2f}", row.gbit_per_s()); });
  if (options_.pattern != PerfPattern::pairs) {
    add("slowest", 9, [](const PerfRow& row) { return fmt::format("{:.1f}", row.slowest_mb_per_s); });
    add("fastest", 9, [](const PerfRow& row) { return fmt::format("{:.1f}", row.fastest_mb_per_s); });
  }
  if (!options_.usage) return;
  add("cpu here", 9, [](const PerfRow& row) { return known_text(row.here.processors(), 2); });
  add("there", 6, [](const PerfRow& row) { return known_text(row.there.processors(), 2); });
  add("cyc/B here", 10, [](const PerfRow& row) { return known_text(row.here.cycles_per_byte(), 2); });
  add("there", 8, [](const PerfRow& row) { return known_text(row.there.cycles_per_byte(), 2); });
}

void PerfReport::columns_csv() {
  const auto add = [this](std::string head, auto text) { columns_.push_back({std::move(head), 0, text}); };
  add("test", [this](const PerfRow&) { return std::string(test_name(options_.test)); });
  add("size", [](const PerfRow& row) { return fmt::format("{}", row.size); });
  add("messages", [](const PerfRow& row) { return fmt::format("{}", row.messages); });
  add("seconds", [](const PerfRow& row) { return fmt::format("{:.6f}", row.seconds); });
  add("min_us", [](const PerfRow& row) { return fmt::format("{:.3f}", row.min_us); });
  add("median_us", [](const PerfRow& row) { return fmt::format("{:.3f}", row.median_us); });
  add("p99_us", [](const PerfRow& row) { return fmt::format("{:.3f}", row.p99_us); });
  add("mb_per_s", [](const PerfRow& row) { return fmt::format("{:.3f}", row.mb_per_s()); });
  add("gbit_per_s", [](const PerfRow& row) { return fmt::format("{:.4f}", row.gbit_per_s()); });
  add("million_per_s", [](const PerfRow& row) { return fmt::format("{:.5f}", row.million_per_s()); });
  // Columns that are asked for come behind those that are always there.
  for (std::size_t i = 0; i < options_.percentiles.size(); i++)
    add(percent_name(options_.percentiles[i]) + "_us",
        [i](const PerfRow& row) { return fmt::format("{:.3f}", percentile_of(row, i)); });
  if (options_.repeats > 1) add("repeat", [](const PerfRow& row) { return fmt::format("{}", row.repeat); });
  if (options_.pattern != PerfPattern::pairs) {
    add("slowest_mb_per_s", [](const PerfRow& row) { return fmt::format("{:.3f}", row.slowest_mb_per_s); });
    add("fastest_mb_per_s", [](const PerfRow& row) { return fmt::format("{:.3f}", row.fastest_mb_per_s); });
  }
  if (!options_.usage) return;
  add("processors_here", [](const PerfRow& row) { return known_text(row.here.processors(), 4); });
  add("processors_there", [](const PerfRow& row) { return known_text(row.there.processors(), 4); });
  add("cycles_per_byte_here", [](const PerfRow& row) { return known_text(row.here.cycles_per_byte(), 4); });
  add("cycles_per_byte_there", [](const PerfRow& row) { return known_text(row.there.cycles_per_byte(), 4); });
}

void PerfReport::print_line(const std::function<std::string(const Column&)>& text) const {
  std::string line;
  for (const Column& column : columns_) {
    if (!line.empty()) line += column.width ? " " : ",";
    line += fmt::format("{:>{}}", text(column), column.width);
  }
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void PerfReport::interval(std::uint64_t size, const PerfInterval& interval) const {
  const PerfFigures& figures = interval.figures;
  std::string line =
      fmt::format("  {:.2f} to {:.2f} s: {} bytes, {} messages, {:.4f} M msg/s, {:.1f} MB/s", interval.from_s,
                  interval.to_s, size, figures.messages, figures.million_per_s(),
                  figures.million_per_s() * static_cast<double>(size));
  if (options_.test == PerfTest::pingpong) {
    for (const auto& [percent, us] : figures.percentiles)
      line += fmt::format(", {} {:.2f} us", percent_name(percent), us);
    if (figures.percentiles.empty())
      line += fmt::format(", p50 {:.2f} us, p99 {:.2f} us", figures.median_us, figures.p99_us);
  }
  // CSV and JSON on stdout must stay what they are.
  std::FILE* const out = options_.format == PerfFormat::table ? stdout : stderr;
  fmt::print(out, "{}\n", line);
  std::fflush(out);
}

void PerfReport::add(const PerfRow& row) {
  rows_.push_back(row);
  if (options_.format == PerfFormat::json) return;
  print_line([&row](const Column& column) { return column.text(row); });
  if (options_.format != PerfFormat::table) return;
  for (const std::string& line : histogram_lines(row.buckets)) fmt::print("{}\n", line);
  std::fflush(stdout);
}

void PerfReport::finish(const std::string& json) const {
  if (options_.format == PerfFormat::json) fmt::print("{}", json);
  if (options_.format == PerfFormat::table) {
    fmt::print("{}", short_line(options_, rows_));
    print_usage_notes();
  }
  std::fflush(stdout);
}

void PerfReport::print_usage_notes() const {
  if (!options_.usage || rows_.empty()) return;
  for (const std::string& note : usage_notes(rows_.back().here.usage, "here")) fmt::print("{}\n", note);
  for (const std::string& note : usage_notes(rows_.back().there.usage, "there")) fmt::print("{}\n", note);
}

std::vector<std::string> usage_notes(const PerfUsage& usage, const char* side) {
  std::vector<std::string> notes;
  if (!usage.known && !usage.cycles) {
    notes.push_back(
        fmt::format("processor time and cycles {}: not available, as the omx perf there is older", side));
    return notes;
  }
  if (!(usage.known & PerfUsage::kTimes))
    notes.push_back(fmt::format("processor time {}: not available", side));
  else if (usage.known & PerfUsage::kThread)
    notes.push_back(fmt::format("processor time and cycles {}: of the threads that measure only", side));
  if (!(usage.known & PerfUsage::kCycles))
    notes.push_back(fmt::format("cycles {}: not available: {}", side, usage.cycles_missing()));
  else if (usage.known & PerfUsage::kUserCycles)
    notes.push_back(
        fmt::format("cycles {} are those of user space: the kernel permits no others "
                    "(kernel.perf_event_paranoid)",
                    side));
  return notes;
}

std::string short_line(const PerfOptions& options, const std::vector<PerfRow>& rows) {
  const std::uint64_t least = default_iterations_least(options.test);
  std::vector<const PerfRow*> shorts;
  for (const PerfRow& row : rows) {
    if (!row.cut_short() || (!options.iterations && row.messages >= least)) continue;
    const auto same = std::find_if(shorts.begin(), shorts.end(),
                                   [&row](const PerfRow* other) { return other->size == row.size; });
    if (same == shorts.end())
      shorts.push_back(&row);
    else if (row.messages < (*same)->messages)
      *same = &row;
  }
  if (shorts.empty()) return "";
  std::vector<std::string> texts;
  for (const PerfRow* row : shorts) {
    texts.push_back(options.iterations
                        ? fmt::format("{} bytes: {} of {}", row->size, row->messages, row->wanted)
                        : fmt::format("{} bytes: {}", row->size, row->messages));
  }
  return fmt::format("{} messages, as a size may take {:g} s (--max-time): {}\n",
                     options.iterations ? "fewer than --iterations" : "too few", perf_limit_s(options),
                     fmt::join(texts, ", "));
}

std::vector<std::string> histogram_lines(const std::vector<PerfHistogram::Bucket>& buckets) {
  constexpr double kBarMost = 40;
  std::vector<PerfHistogram::Bucket> rows;
  std::uint64_t most = 0, all = 0;
  for (const auto& bucket : buckets) {
    // Four rows for each octave.
    const int shift = std::max(static_cast<int>(std::bit_width(bucket.low)) - 3, 0);
    const std::uint64_t low = bucket.low >> shift << shift;
    if (rows.empty() || rows.back().low != low) rows.push_back({low, low + (1ULL << shift), 0});
    rows.back().count += bucket.count;
    most = std::max(most, rows.back().count);
    all += bucket.count;
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    const double share = static_cast<double>(row.count) / static_cast<double>(all);
    const auto bar =
        static_cast<std::size_t>(kBarMost * static_cast<double>(row.count) / static_cast<double>(most));
    lines.push_back(fmt::format("{:>12.2f} to {:>9.2f} us {:>9} {:>6.2f} %{}{}",
                                static_cast<double>(row.low) * kHalfUs,
                                static_cast<double>(row.high) * kHalfUs, row.count, share * 100,
                                bar ? " " : "", std::string(bar, '#')));
  }
  return lines;
}

}  // namespace omx::tools
