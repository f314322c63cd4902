// SPDX-License-Identifier: BSD-3-Clause
// Counters of an endpoint's intra-node path (hub.h).
#pragma once

#include <cstdint>

namespace omx::local {

struct HubCounters {
  std::uint64_t frames_sent = 0, frames_received = 0;
  std::uint64_t frames_delayed = 0;  // the peer's ring was full, or earlier frames still waited
  std::uint64_t frames_dropped = 0;  // no ring leads to that endpoint, or 64 MiB already wait
  std::uint64_t direct_reads = 0, direct_bytes = 0;  // of a sender's memory (one copy)
  std::uint64_t notifies = 0;                        // sleeping peers that were woken
};

}  // namespace omx::local
