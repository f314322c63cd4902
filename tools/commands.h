// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of omx. To add one: a function here, its file, a line in omx_main.cc.
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

// The numbers of boards, for CLI::Range; CLI's own checks of signs tell the limits of floating point.
inline constexpr int kBoardMost = 255;

struct Command {
  CLI::App* app;
  std::function<int()> run;  // after the command line was read; returns the exit status
};

Command capture_command(CLI::App& root);
Command info_command(CLI::App& root);
Command perf_command(CLI::App& root);
Command counters_command(CLI::App& root);
Command top_command(CLI::App& root);
Command dump_command(CLI::App& root);
Command peers_command(CLI::App& root);
Command steer_command(CLI::App& root);
Command check_command(CLI::App& root);
Command tune_command(CLI::App& root);
Command prepare_binding_command(CLI::App& root);

// "omx COMMAND: sentence" on stderr; returns kFailed.
template <class... Args>
int failed(const char* command, fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "omx {}: {}\n", command, fmt::format(format, std::forward<Args>(args)...));
  return kFailed;
}

}  // namespace omx::tools
