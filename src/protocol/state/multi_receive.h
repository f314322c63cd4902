// SPDX-License-Identifier: BSD-3-Clause
// The memory of a multi-receive buffer, which takes one message behind the other (multi_receives.cc).
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct MultiReceive {
  Request* posted = nullptr;  // the receive that the application posted
  Request* spare = nullptr;   // request for the next message
  std::uint32_t used = 0;     // bytes
  std::uint32_t least = 0;
  std::uint32_t running = 0;     // messages that are not complete
  bool retired = false;          // takes no more messages
  Status end = Status::pending;  // not pending: the buffer ends with this status, not with a last message
};

}  // namespace omx::protocol
