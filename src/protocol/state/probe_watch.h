// SPDX-License-Identifier: BSD-3-Clause
// A series of probes for one source and session (actions/watch.h).
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct ProbeWatch {
  const Peer* peer = nullptr;
  std::uint32_t session = 0xFFFFFFFF, shunned = 0xFFFFFFFF;  // see ReceiveOp
  bool reach = false;               // connect to the source while it is not connected
  TimeNs since = 0, last = 0;       // start of the series; latest probe
  Status failed = Status::pending;  // how a receive would have ended; reported to the next probe
};

}  // namespace omx::protocol
