// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/rail_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "netdev/interfaces_choose.h"
#include "netdev/interfaces_meant.h"

namespace omx::runtime {

namespace {

constexpr int kMxBadParamVal = 26;

bool any_meant(const Board& board, const std::vector<std::string_view>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return board_meant(board, word); });
}

// Returns what is wrong with a word that means none of the boards that may be rails.
Failure word_failure(const std::vector<Board>& boards, std::string_view word) {
  if (link::term_of(word) == link::Term::malformed)
    return {kMxBadParamVal, link::term_failure({}, word, "OMX_RAILS")};
  const bool loopback =
      std::any_of(boards.begin(), boards.end(), [&](const Board& b) { return board_meant(b, word); });
  return {
      kMxBadParamVal,
      loopback
          ? fmt::format("OMX_RAILS names {}, the loopback, by which no other host is reached; leave it out",
                        shown(word))
          : fmt::format("OMX_RAILS names {}, which is no board here; omx info shows the boards, and why "
                        "others are none",
                        shown(word))};
}

}  // namespace

bool board_meant(const Board& board, std::string_view word) {
  link::Interface interface = board.interface;
  interface.nic = board.mac;
  return link::interface_meant(interface, word);
}

Result<std::vector<const Board*>> rails_choose(const std::vector<Board>& boards, const Board& board,
                                               std::string_view wanted) {
  std::vector<const Board*> found;
  if (board.interface.loopback) return found;
  const bool everything = wanted == "all";
  const auto words = everything ? std::vector<std::string_view>() : list_words(wanted);
  for (const std::string_view word : words) {
    const bool known = std::any_of(boards.begin(), boards.end(), [&](const Board& b) {
      return !b.interface.loopback && board_meant(b, word);
    });
    if (!known) return tl::unexpected(word_failure(boards, word));
  }
  if (!everything && !any_meant(board, words)) return found;
  for (const Board& other : boards) {
    if (other.interface.loopback || other.number == board.number) continue;
    if (everything || any_meant(other, words)) found.push_back(&other);
  }
  return found;
}

}  // namespace omx::runtime
