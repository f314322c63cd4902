// SPDX-License-Identifier: BSD-3-Clause
// The programs of Open-MX 1.x by their names (links to omx): options, output and exit statuses that scripts
// know. One file each; to add one: a function here, its file, a line in parity.cc, a link in CMakeLists.txt.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "tools/info/host_facts.h"

namespace omx::tools {

// Wrong usage, and what keeps a program from starting: -1, which a shell sees as 255.
inline constexpr int kParityFailed = 255;

// The status of the program of this name (a path counts by its last part); nullopt: there is none.
std::optional<int> parity_run(std::string_view called_as, int argc, char** argv);

int parity_info(int argc, char** argv);
int parity_counters(int argc, char** argv);
int parity_endpoint_info(int argc, char** argv);
int parity_hostname(int argc, char** argv);
int parity_init_peers(int argc, char** argv);
int parity_perf(int argc, char** argv);
int parity_check(int argc, char** argv);
int parity_discovery(int argc, char** argv);

// "PROGRAM: sentence" on stderr; returns kParityFailed.
template <class... Args>
int parity_failed(const char* program, fmt::format_string<Args...> format, Args&&... args) {
  std::fflush(stdout);
  fmt::print(stderr, "{}: {}\n", program, fmt::format(format, std::forward<Args>(args)...));
  return kParityFailed;
}

// A number of an option: whole, at most `most`.
std::optional<long> parity_number(const char* program, char option, const char* text, long most);

// The boards that -b selects, all when it is negative; or the status to end with.
struct ParityBoards {
  std::unique_ptr<runtime::Process> process;
  std::vector<runtime::Board> boards;
  int status = 0;  // not 0: it was said why there are none
};
ParityBoards parity_boards(const char* program, long board);

// "HOSTNAME (board #N name IFACE addr MAC)"
std::string parity_title(const runtime::Board& board);

}  // namespace omx::tools
