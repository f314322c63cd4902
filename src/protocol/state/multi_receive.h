// SPDX-License-Identifier: BSD-3-Clause
// The memory of a receive that takes one message behind the other (multi.cc).
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct MultiReceive {
  Request* posted = nullptr;  // what the application posted
  Request* spare = nullptr;   // for the next message
  std::uint32_t used = 0;     // bytes
  std::uint32_t least = 0;
  std::uint32_t running = 0;     // messages that are not complete
  bool retired = false;          // takes no more
  Status end = Status::pending;  // not pending: the memory comes back with this, not with a last message
};

}  // namespace omx::protocol
