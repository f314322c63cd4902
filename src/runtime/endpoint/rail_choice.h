// SPDX-License-Identifier: BSD-3-Clause
// Chooses which boards an endpoint uses beside its own (docs/explanation/rails.md).
#pragma once

#include <string_view>
#include <vector>

#include "base/expected.h"
#include "runtime/board/boards.h"

namespace omx::runtime {

// Returns whether a word means the board. A hardware address is accepted even if the board is reached by
// UDP.
bool board_meant(const Board& board, std::string_view word);

// Returns those of `boards` beside `board` that `wanted` names, in the order of `boards`. `wanted` is
// OMX_RAILS: "all", or interfaces with commas or blanks between them. The result is empty if it does not
// name `board` itself. A loopback is no rail. The result points into `boards`.
Result<std::vector<const Board*>> rails_choose(const std::vector<Board>& boards, const Board& board,
                                               std::string_view wanted);

}  // namespace omx::runtime
