// SPDX-License-Identifier: BSD-3-Clause
// The prefix of the log lines of a process (OMX_VERBOSE_PREFIX).
#pragma once

#include <cstdint>
#include <vector>

#include "config/settings.h"
#include "runtime/board/boards.h"

namespace omx::runtime {

class LogPrefix {
 public:
  LogPrefix(const Settings& settings, const std::vector<Board>& boards)
      : settings_(settings), boards_(boards) {}

  // Sets level, prefix and file.
  void begin() const;
  // Only the first endpoint is named: the prefix is shared by all, and must not change while others write.
  void endpoint_opened(const Board& board, std::uint32_t id);

 private:
  const Settings& settings_;
  const std::vector<Board>& boards_;
  bool named_ = false;  // the prefix says which endpoint
};

}  // namespace omx::runtime
