// SPDX-License-Identifier: BSD-3-Clause
// Shared by the programs of Open-MX 1.x. These are links to omx. Scripts know their options, output and exit
// statuses.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "tools/command.h"
#include "tools/info/host_facts.h"

namespace omx::tools {

// The status for wrong usage and for a program that cannot start: -1, which a shell sees as 255.
inline constexpr int kParityFailed = 255;

// Prints "PROGRAM: E123: sentence" on stderr and returns kParityFailed.
template <class... Args>
int parity_failed(const char* program, fmt::format_string<Args...> format, Args&&... args) {
  std::fflush(stdout);
  message_print(program, fmt::format(format, std::forward<Args>(args)...));
  return kParityFailed;
}

// Returns the next option as getopt() does. Prints a message about one that is unknown or lacks its value.
int parity_option(const char* program, int argc, char** argv, const char* options);

// Reads an option's value: a whole number from 0 to `most`. Prints a message if it is not one.
std::optional<long> parity_number(const char* program, char option, const char* text, long most);

// The boards that -b selects, or all if it is negative. If `status` is not 0, the program must end with it.
struct ParityBoards {
  std::unique_ptr<runtime::Process> process;
  std::vector<runtime::Board> boards;
  int status = 0;  // not 0: the message has been printed
};
ParityBoards parity_boards(const char* program, long board);

// Returns "HOSTNAME (board #N name IFACE addr MAC)".
std::string parity_title(const runtime::Board& board);

}  // namespace omx::tools
