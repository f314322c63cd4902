// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/boards.h"

#include <fmt/format.h>
#include <unistd.h>

namespace omx::runtime {

namespace {

constexpr int kMxNoDev = 5;

std::string host_name(const Settings& settings) {
  if (!settings.hostname.empty()) return settings.hostname;
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) < 0 || !name[0]) return "localhost";
  return name;
}

// As the reference does, the loopback device is "localhost" without a number.
std::string board_hostname(const Settings& settings, const Board& board) {
  if (board.interface.loopback) return "localhost";
  const std::string suffix = fmt::format(":{}", board.number);
  return host_name(settings).substr(0, wire::kHostnameMax - 1 - suffix.size()) + suffix;
}

// Some examples: error texts have an end (mx-api.md 5).
std::string refusals(const std::vector<link::Choice>& choices) {
  constexpr int kMost = 3;
  std::string text;
  int count = 0;
  for (const link::Choice& choice : choices) {
    if (choice.interface.loopback) continue;
    if (count++ == kMost) return text + "; ...";
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", choice.interface.name, choice.reason);
  }
  return text.empty() ? "there is none" : text;
}

}  // namespace

Result<std::vector<Board>> boards_find(const Settings& settings) {
  auto choices = link::interfaces_choose(link::interfaces_list(), settings.interfaces);
  if (!choices) return tl::unexpected(choices.error());

  std::vector<Board> boards;
  for (const link::Choice& choice : *choices) {
    if (!choice.taken) continue;
    Board board;
    board.number = static_cast<std::uint32_t>(boards.size());
    board.interface = choice.interface;
    board.hostname = board_hostname(settings, board);
    boards.push_back(std::move(board));
  }
  if (boards.empty()) {
    return fail(
        kMxNoDev,
        fmt::format(
            "no usable Ethernet interface; bring one up with \"ip link set dev NAME up\" or name one in "
            "OMX_INTERFACES ({})",
            refusals(*choices)));
  }
  return boards;
}

}  // namespace omx::runtime
