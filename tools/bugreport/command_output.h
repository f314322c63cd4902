// SPDX-License-Identifier: BSD-3-Clause
// Runs a command for a report, and bounds what it may take.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace omx::tools {

struct CommandOutput {
  std::string text;     // stdout and stderr
  std::string trouble;  // why the text is not whole or there is none; empty: the command ended by itself
  int status = 0;       // of the exit
};

// Runs the program, which is looked for in PATH, with /dev/null as its input. A program that has not ended in
// time is killed, with those that it started. At most 1 MiB is read.
CommandOutput command_output(const std::vector<std::string>& words, std::chrono::milliseconds limit);

}  // namespace omx::tools
