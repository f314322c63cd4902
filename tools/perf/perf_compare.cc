// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <myriexpress.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>

#include "base/text.h"
#include "tools/command.h"
#include "tools/perf/perf_json_read.h"

namespace omx::tools {

namespace {

const char* figure_of(const std::string& test) {
  if (test == "pingpong") return "median_us";
  return test == "rate" ? "million_per_s" : "mb_per_s";
}

const char* change_text(PerfChange change) {
  switch (change) {
    case PerfChange::better:
      return "better";
    case PerfChange::worse:
      return "worse";
    case PerfChange::noise:
      return "within noise";
    case PerfChange::unknown:
      return "noise unknown";
  }
  return "";
}

std::string spread_text(const PerfSpread& spread) {
  return spread.count > 1
             ? fmt::format("{:.2f} ({:.2f} to {:.2f})", spread.median, spread.least, spread.greatest)
             : fmt::format("{:.2f}", spread.median);
}

std::string field_text(const JsonValue& document, const char* key) {
  using Kind = JsonValue::Kind;
  if (const JsonValue* truth = document.at(key, Kind::truth))
    return fmt::format("{}{}", truth->truth ? "" : "not ", key);
  if (const JsonValue* number = document.at(key, Kind::number))
    return fmt::format("{} {:g}", key, number->number);
  if (const JsonValue* text = document.at(key, Kind::text))
    return fmt::format("{} {}", key, shown(text->text));
  return fmt::format("{} not told", key);
}

Result<PerfResults> results_load(const std::string& file) {
  const std::string name = shown(file, kPathShown);
  std::ifstream stream(file);
  std::error_code error;
  if (!stream || std::filesystem::is_directory(file, error))  // reading a folder would throw
    return fail(MX_FAILURE, fmt::format("cannot read {}: {}", name, std::strerror(stream ? EISDIR : errno)));
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  auto results = results_read(text);
  if (!results) return fail(MX_FAILURE, fmt::format("{} {}", name, results.error().message));
  return results;
}

}  // namespace

PerfSpread spread_of(std::vector<double>& figures) {
  std::sort(figures.begin(), figures.end());
  const std::size_t count = figures.size();
  const double median = std::midpoint(figures[(count - 1) / 2], figures[count / 2]);
  return {count, figures.front(), median, figures.back()};
}

PerfChange change_judge(const PerfSpread& before, const PerfSpread& after, bool less_is_better) {
  if (before.count < kRepeatsLeast || after.count < kRepeatsLeast) return PerfChange::unknown;
  if (after.least > before.greatest) return less_is_better ? PerfChange::worse : PerfChange::better;
  if (after.greatest < before.least) return less_is_better ? PerfChange::better : PerfChange::worse;
  return PerfChange::noise;
}

// Of all orders of n + m equal figures, two have every figure of one side before every figure of the other:
// that is a share of 2 / (n + m over n).
double chance_once_in(std::size_t before, std::size_t after) {
  double orders = 1;
  for (std::size_t i = 1; i <= before; i++)
    orders = orders * static_cast<double>(after + i) / static_cast<double>(i);
  return orders / 2;
}

Result<PerfResults> results_read(std::string_view text) {
  const auto document = json_read(text);
  if (!document) return fail(MX_FAILURE, "is no JSON document");
  using Kind = JsonValue::Kind;
  const JsonValue* test = document->at("test", Kind::text);
  const JsonValue* rows = document->at("results", Kind::array);
  if (!test || !rows) return fail(MX_FAILURE, "is no result of omx perf: write one with --output FILE");
  PerfResults results;
  results.test = shown(test->text);
  results.figure = figure_of(results.test);
  std::vector<std::string> settings;
  for (const char* key : {"pattern", "threads", "blocking", "synchronous", "verified"})
    settings.push_back(field_text(*document, key));
  results.settings = fmt::format("{}", fmt::join(settings, ", "));
  for (const JsonValue& row : rows->items) {
    const JsonValue* size = row.at("size", Kind::number);
    const JsonValue* figure = row.at(results.figure, Kind::number);
    if (!size || !figure || !(size->number >= 0 && size->number < 0x1p32))
      return fail(MX_FAILURE, fmt::format("has a result without size or {}", results.figure));
    results.of_size[static_cast<std::uint64_t>(size->number)].push_back(figure->number);
  }
  if (results.of_size.empty()) return fail(MX_FAILURE, "has no results");
  return results;
}

Result<std::vector<std::string>> results_compare(const PerfResults& before, const PerfResults& after) {
  if (before.test != after.test)
    return fail(MX_FAILURE,
                fmt::format("the first file is of {}, the second of {}: measure the same test twice",
                            before.test, after.test));
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {}, {} is better", before.test, before.figure,
                              before.figure == "median_us" ? "less" : "more"));
  if (before.settings != after.settings)
    lines.push_back(fmt::format("measured differently: {}; then {}", before.settings, after.settings));
  lines.push_back(fmt::format("{:>10} {:>30} {:>30} {:>8}  {}", "bytes", "first (range)", "second (range)",
                              "change", ""));
  std::vector<std::string> lonely;
  std::optional<std::pair<std::size_t, std::size_t>> fewest;  // repeats of a judged size
  bool unknown = false;
  for (auto [size, figures] : before.of_size) {
    const auto found = after.of_size.find(size);
    if (found == after.of_size.end()) {
      lonely.push_back(fmt::format("{} (first)", size));
      continue;
    }
    std::vector<double> others = found->second;
    const PerfSpread a = spread_of(figures), b = spread_of(others);
    const PerfChange change = change_judge(a, b, before.figure == "median_us");
    const std::string percent =
        a.median > 0 ? fmt::format("{:+.1f} %", (b.median / a.median - 1) * 100) : "-";
    lines.push_back(fmt::format("{:>10} {:>30} {:>30} {:>8}  {}", size, spread_text(a), spread_text(b),
                                percent, change_text(change)));
    if (change == PerfChange::unknown)
      unknown = true;
    else if (!fewest || chance_once_in(a.count, b.count) < chance_once_in(fewest->first, fewest->second))
      fewest = {a.count, b.count};
  }
  for (const auto& [size, figures] : after.of_size) {
    if (!before.of_size.contains(size)) lonely.push_back(fmt::format("{} (second)", size));
  }
  if (!lonely.empty()) lines.push_back(fmt::format("in one file only: {}", fmt::join(lonely, ", ")));
  if (fewest)
    lines.push_back(
        fmt::format("within noise: the ranges of the repeats touch. Chance alone keeps ranges of {} and {} "
                    "repeats apart once in {:.0f} comparisons.",
                    fewest->first, fewest->second, chance_once_in(fewest->first, fewest->second)));
  if (unknown)
    lines.push_back(fmt::format("noise unknown: fewer than {} repeats on a side; measure with --repeat 5",
                                kRepeatsLeast));
  return lines;
}

int perf_compare(const std::string& before, const std::string& after) {
  const auto first = results_load(before);
  if (!first) return failed("perf", "{}", first.error().message);
  const auto second = results_load(after);
  if (!second) return failed("perf", "{}", second.error().message);
  const auto lines = results_compare(*first, *second);
  if (!lines) return failed("perf", "{}", lines.error().message);
  for (const std::string& line : *lines) fmt::print("{}\n", line);
  return kOk;
}

}  // namespace omx::tools
