// SPDX-License-Identifier: BSD-3-Clause
// Unscheduled data: data of large messages that come before they are asked for (docs/reference/wire.md 17).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/list.h"
#include "protocol/state/pull.h"
#include "protocol/types.h"

namespace omx::protocol {

// A peer that may send unscheduled data, and until when.
struct UnscheduledLeave {
  const Peer* peer = nullptr;
  TimeNs until = 0;
};

// Unscheduled data that were not expected.
struct UnscheduledLost {
  NicId nic = 0;
  std::uint32_t magic = 0, key = 0;
  bool operator==(const UnscheduledLost&) const = default;
};

struct Unscheduled {
  std::array<UnscheduledLeave, 3> leaves;  // together no more than even the ports of small switches hold
  List<Pull, &Pull::unscheduled_hook> running;
  std::array<UnscheduledLost, 4> lost;  // data that came before their RNDV, or were of no use
  std::size_t lost_last = 0;
};

}  // namespace omx::protocol
