// SPDX-License-Identifier: BSD-3-Clause
// The parts of a report: a title and a text. Most texts are what a command prints.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace omx::tools {

std::string section(std::string_view title, const std::string& text);

// Runs the commands of a report. All of them together have a limit, since each may hang on a broken host.
class CommandSections {
 public:
  struct Limits {
    std::chrono::milliseconds command = std::chrono::seconds(30);
    std::chrono::milliseconds report = std::chrono::seconds(120);
  };

  explicit CommandSections(const Limits& limits);
  CommandSections() : CommandSections(Limits{}) {}

  std::string run(const std::vector<std::string>& words) const;
  // Runs this program again, so that no fault of another command ends the report.
  std::string own(const std::vector<std::string>& words) const;

 private:
  std::string run(const std::vector<std::string>& words, std::string_view title) const;

  std::chrono::milliseconds command_limit_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace omx::tools
