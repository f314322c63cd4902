// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bugreport/command_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/bugreport/command_output.h"

namespace omx::tools {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string section(std::string_view title, const std::string& text) {
  return fmt::format("\n==== {} ====\n{}{}", title, text, text.empty() || text.ends_with('\n') ? "" : "\n");
}

CommandSections::CommandSections(const Limits& limits)
    : command_limit_(limits.command), end_(Clock::now() + limits.report) {}

std::string CommandSections::run(const std::vector<std::string>& words, std::string_view title) const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
  if (left <= 0ms) return section(title, "(left out: other commands have taken the time of the report)\n");
  const CommandOutput output = command_output(words, std::min(left, command_limit_));
  std::string text = output.text;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!output.trouble.empty()) text += fmt::format("({})\n", output.trouble);
  if (output.status != 0) text += fmt::format("(exit status {})\n", output.status);
  return section(title, text);
}

std::string CommandSections::run(const std::vector<std::string>& words) const {
  return run(words, fmt::format("{}", fmt::join(words, " ")));
}

std::string CommandSections::own(const std::vector<std::string>& words) const {
  std::vector<std::string> all{"/proc/self/exe"};
  all.insert(all.end(), words.begin(), words.end());
  return run(all, fmt::format("omx {}", fmt::join(words, " ")));
}

}  // namespace omx::tools
