// SPDX-License-Identifier: BSD-3-Clause
// Shared by the subcommands of omx. A new subcommand needs a file cmd_NAME with its header, and a line in
// omx_main.cc.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <functional>

namespace CLI {
class App;
}

namespace omx::tools {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

// The highest board number, as an int: with other types CLI::Range prints its limits as floating point.
inline constexpr int kBoardMost = 255;

struct Command {
  CLI::App* app;
  std::function<int()> run;  // called after the command line was parsed; returns the exit status
};

// Prints "omx COMMAND: sentence" on stderr and returns kFailed.
template <class... Args>
int failed(const char* command, fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "omx {}: {}\n", command, fmt::format(format, std::forward<Args>(args)...));
  return kFailed;
}

}  // namespace omx::tools
