// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/parity.h"

#include <cstring>

#include "base/number.h"
#include "base/text.h"

namespace omx::tools {

int parity_option(const char* program, int argc, char** argv, const char* options) {
  ::opterr = 0;  // its messages have no number
  const int option = ::getopt(argc, argv, options);
  const auto name = static_cast<char>(::optopt);
  if (option == '?' && std::strchr(options, name))
    parity_failed(program, "-{} needs a value", name);
  else if (option == '?')
    parity_failed(program, "-{} is not an option of this program", name);
  return option;
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
