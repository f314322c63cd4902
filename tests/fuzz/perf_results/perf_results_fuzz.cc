// SPDX-License-Identifier: BSD-3-Clause
// Two files for `omx perf --compare` with any bytes, apart by a form feed, which no JSON document has outside
// strings. A file that is refused gives one sentence. Files that are accepted give lines that cannot work on
// the reader's terminal, and a file is never better or worse than itself.
#include <algorithm>
#include <string>
#include <string_view>

#include "tests/fuzz/require.h"
#include "tests/fuzz/settings/text_checks.h"
#include "tools/perf/perf_compare.h"

namespace omx::fuzz {
namespace {

using tools::PerfResults;

std::vector<std::string> compare(const PerfResults& before, const PerfResults& after) {
  const auto lines = tools::results_compare(before, after);
  if (!lines) {
    check_message(lines.error().message);
    return {};
  }
  for (const std::string& line : *lines)
    REQUIRE(std::none_of(line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }));
  return *lines;
}

void check(std::string_view text) {
  const std::size_t end = std::min(text.find('\f'), text.size());
  const auto before = tools::results_read(text.substr(0, end));
  if (!before) return check_message(before.error().message);
  const auto same = compare(*before, *before);
  REQUIRE(same.size() >= 3);
  for (const std::string& line : same) REQUIRE(!line.ends_with("  better") && !line.ends_with("  worse"));
  if (end == text.size()) return;
  const auto after = tools::results_read(text.substr(end + 1));
  if (!after) return check_message(after.error().message);
  compare(*before, *after);
}

}  // namespace
}  // namespace omx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  omx::fuzz::check(std::string_view(reinterpret_cast<const char*>(bytes), size));
  return 0;
}
