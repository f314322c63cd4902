// SPDX-License-Identifier: BSD-3-Clause
// What a hub counts.
#pragma once

#include <cstdint>

namespace omx::local {

struct HubCounters {
  std::uint64_t frames_sent = 0, frames_received = 0;
  std::uint64_t frames_delayed = 0;  // the ring was full
  std::uint64_t frames_dropped = 0;  // the endpoint does not exist, or too much waited
  std::uint64_t direct_reads = 0, direct_bytes = 0;
  std::uint64_t notifies = 0;  // sleeping peers that were woken
};

}  // namespace omx::local
