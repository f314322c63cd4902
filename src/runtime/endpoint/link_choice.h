// SPDX-License-Identifier: BSD-3-Clause
// Chooses the kind of link that carries the frames of an endpoint by a board.
#pragma once

#include <cstdint>
#include <memory>

#include "base/expected.h"
#include "config/settings.h"
#include "link/transport.h"
#include "runtime/board/boards.h"

namespace omx::runtime {

// Opens the link. `rail`: it is opened beside the endpoint's own link, and takes the endpoint's frames only.
Result<std::unique_ptr<link::Transport>> frames_open(const Settings& settings, const Board& board,
                                                     std::uint8_t endpoint, bool rail);

}  // namespace omx::runtime
