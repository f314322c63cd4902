// SPDX-License-Identifier: BSD-3-Clause
// One source that the application probes again and again (watch.h).
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct ProbeWatch {
  const Peer* peer = nullptr;
  std::uint32_t session = 0xFFFFFFFF, shunned = 0xFFFFFFFF;  // see ReceiveOp
  bool reach = false;
  TimeNs since = 0, last = 0;
  Status failed = Status::pending;  // how a receive would have ended; reported to the next probe
};

}  // namespace omx::protocol
