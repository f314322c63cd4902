// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/parity.h"

#include "base/number.h"
#include "base/text.h"

namespace omx::tools {

namespace {

struct Program {
  std::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr Program kPrograms[] = {
    {"omx_info", parity_info},
    {"omx_counters", parity_counters},
    {"omx_endpoint_info", parity_endpoint_info},
    {"omx_hostname", parity_hostname},
    {"omx_init_peers", parity_init_peers},
    {"omx_perf", parity_perf},
    {"omx_check", parity_check},
    {"omxoed", parity_discovery},
};

}  // namespace

std::optional<int> parity_run(std::string_view called_as, int argc, char** argv) {
  const std::string_view name = called_as.substr(called_as.rfind('/') + 1);
  for (const Program& program : kPrograms) {
    if (program.name == name) return program.run(argc, argv);
  }
  return std::nullopt;
}

std::optional<long> parity_number(const char* program, char option, const char* text, long most) {
  const auto number = number_parse(text);
  if (number && *number <= static_cast<std::uint64_t>(most)) return static_cast<long>(*number);
  parity_failed(program, "-{} takes a whole number from 0 to {}, not \"{}\"", option, most, shown(text));
  return std::nullopt;
}

ParityBoards parity_boards(const char* program, long board) {
  ParityBoards result;
  auto process = runtime::Process::create();
  if (!process) {
    result.status = parity_failed(program, "{}", process.error().message);
    return result;
  }
  result.process = std::move(*process);
  auto boards = boards_select(result.process->boards(), board);
  if (!boards) {
    result.status = parity_failed(program, "{}", boards.error().message);
    return result;
  }
  result.boards = std::move(*boards);
  return result;
}

std::string parity_title(const runtime::Board& board) {
  return fmt::format("{} (board #{} name {} addr {})", board.hostname, board.number, board.interface.name,
                     mac_format(board.interface.nic));
}

}  // namespace omx::tools
