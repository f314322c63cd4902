// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_options.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "base/number.h"

namespace omx::tools {

namespace {

constexpr const char* kTestNames[] = {"pingpong", "stream", "bistream", "rate"};
constexpr const char* kPatternNames[] = {"pairs", "incast", "all-pairs"};
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = kKiB * kKiB;
constexpr std::uint64_t kMessageMax = 0xFFFFFFFF;  // MX lengths have 32 bits

std::optional<std::uint64_t> size_parse(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty()) {
    constexpr std::string_view kUnits = "KMG";
    const std::size_t at = kUnits.find(text.back() & ~0x20);
    if (at != std::string_view::npos) {
      unit <<= 10 * (at + 1);
      text.remove_suffix(1);
    }
  }
  const auto value = number_parse(text);
  if (!value || *value > kMessageMax / unit) return std::nullopt;
  return *value * unit;
}

bool range_add(std::string_view text, std::vector<std::uint64_t>& sizes) {
  const std::size_t colon = text.find(':');
  const auto first = size_parse(text.substr(0, colon));
  if (!first) return false;
  if (colon == std::string_view::npos) {
    sizes.push_back(*first);
    return true;
  }
  const auto last = size_parse(text.substr(colon + 1));
  if (!last || *last < *first) return false;
  for (std::uint64_t size = *first; size <= *last; size = size ? 2 * size : 1) sizes.push_back(size);
  return true;
}

}  // namespace

const char* test_name(PerfTest test) {
  return kTestNames[static_cast<std::size_t>(test)];
}

std::optional<PerfTest> test_parse(std::string_view name) {
  const auto found = std::find(std::begin(kTestNames), std::end(kTestNames), name);
  if (found == std::end(kTestNames)) return std::nullopt;
  return static_cast<PerfTest>(found - std::begin(kTestNames));
}

const char* pattern_name(PerfPattern pattern) {
  return kPatternNames[static_cast<std::size_t>(pattern)];
}

std::optional<PerfPattern> pattern_parse(std::string_view name) {
  const auto found = std::find(std::begin(kPatternNames), std::end(kPatternNames), name);
  if (found == std::end(kPatternNames)) return std::nullopt;
  return static_cast<PerfPattern>(found - std::begin(kPatternNames));
}

std::optional<std::vector<double>> percentiles_parse(std::string_view text) {
  std::vector<double> percentiles;
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    double percent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + comma, percent);
    if (error != std::errc{} || end != text.data() + comma || !(percent > 0 && percent <= 100))
      return std::nullopt;
    percentiles.push_back(percent);
    if (comma == text.size()) return percentiles;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::vector<std::uint64_t>> sizes_parse(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (!range_add(text.substr(0, comma), sizes)) return std::nullopt;
    if (comma == text.size()) return sizes;
    text.remove_prefix(comma + 1);
  }
}

const char* default_sizes(PerfTest test) {
  switch (test) {
    case PerfTest::pingpong:
      return "0:4M";
    case PerfTest::stream:
    case PerfTest::bistream:
      return "1K:4M";
    case PerfTest::rate:
      return "8";
  }
  return "0";
}

// Chooses iterations that take a fraction of a second for each size.
std::uint64_t default_iterations(PerfTest test, std::uint64_t size) {
  const std::uint64_t bytes = std::max<std::uint64_t>(size, 1);
  const std::uint64_t least = default_iterations_least(test);
  if (test == PerfTest::pingpong) return std::clamp<std::uint64_t>(32 * kMiB / bytes, least, 10000);
  return std::clamp<std::uint64_t>(512 * kMiB / bytes, least, 200000);
}

std::uint64_t default_iterations_least(PerfTest test) {
  return test == PerfTest::pingpong ? 50 : 64;
}

std::uint64_t default_warm_up(std::uint64_t iterations) {
  return std::clamp<std::uint64_t>(iterations / 10, 5, 1000);
}

// Chooses a window that fills the wire but not the caches and the receive ring.
std::uint32_t default_window(PerfTest test, std::uint64_t size) {
  if (test == PerfTest::rate) return 256;
  const std::uint64_t fitting = 16 * kMiB / std::max<std::uint64_t>(size, 1);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 4, 64));
}

double perf_limit_s(const PerfOptions& options) {
  constexpr double kDefault = 3;
  const double none = std::numeric_limits<double>::infinity();
  if (options.max_time_s > 0) return options.max_time_s;
  if (options.iterations || options.max_time_s == 0) return none;
  return std::max(kDefault, options.min_time_s);
}

}  // namespace omx::tools
