// SPDX-License-Identifier: BSD-3-Clause
// The fi_info of a board before hints cut it.
#pragma once

#include <rdma/fabric.h>

#include "runtime/board/boards.h"
#include "runtime/process/process.h"

namespace omx::fabric {

// Returns all that the board can do; the caller frees it with fi_freeinfo(). nullptr: no memory.
fi_info* info_of_board(const runtime::Board& board);

// The name of the domain of endpoints that use all boards together (docs/explanation/rails.md).
inline constexpr const char* kAllBoards = "omx-all";
// Returns the board by which the domain of all boards is known. Returns nullptr if there is only one board,
// or if boards are reached by UDP: then there is no such domain.
const runtime::Board* board_of_all(const runtime::Process& process);

}  // namespace omx::fabric
