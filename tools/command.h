// SPDX-License-Identifier: BSD-3-Clause
// Shared by the subcommands of omx. A new subcommand needs a file cmd_NAME with its header, and a line in
// omx_main.cc.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "base/messages/catalogue.h"

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

// Prints "BEGINNING: E123: sentence" on stderr, with the number that the catalogue has for the sentence.
inline void message_print(std::string_view beginning, const std::string& sentence) {
  fmt::print(stderr, "{}: {}{}\n", beginning, messages::tag(sentence), sentence);
}

// Prints "omx COMMAND: E123: sentence" on stderr and returns kFailed.
template <class... Args>
int failed(std::string_view command, fmt::format_string<Args...> format, Args&&... args) {
  message_print(fmt::format("omx {}", command), fmt::format(format, std::forward<Args>(args)...));
  return kFailed;
}

// Prints "warning: E123: sentence" on stderr.
template <class... Args>
void warned(fmt::format_string<Args...> format, Args&&... args) {
  message_print("warning", fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace omx::tools
