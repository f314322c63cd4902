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
  // Puts the first endpoint into the prefix, and no others. All endpoints share the prefix, and it must not
  // change while other threads log.
  void endpoint_opened(const Board& board, std::uint32_t id);

 private:
  const Settings& settings_;
  const std::vector<Board>& boards_;
  bool named_ = false;  // the prefix names an endpoint
};

}  // namespace omx::runtime
