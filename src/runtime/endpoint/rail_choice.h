// SPDX-License-Identifier: BSD-3-Clause
// Which boards an endpoint uses beside its own (docs/explanation/rails.md).
#pragma once

#include <string_view>
#include <vector>

#include "base/expected.h"
#include "runtime/board/boards.h"

namespace omx::runtime {

// By its hardware address, even where it is reached by UDP.
bool board_meant(const Board& board, std::string_view word);

// Those of `boards` beside `board` that `wanted` names (OMX_RAILS: "all", or words for interfaces with commas
// or blanks between them), in the order of `boards`; none where it does not name `board` itself. A loopback
// is no rail. The result points into `boards`.
Result<std::vector<const Board*>> rails_choose(const std::vector<Board>& boards, const Board& board,
                                               std::string_view wanted);

}  // namespace omx::runtime
