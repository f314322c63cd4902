// SPDX-License-Identifier: BSD-3-Clause
// Arriving data that an offload engine (offload.h) puts into their place while we process the next frames.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/offload.h"
#include "protocol/types.h"

namespace omx::protocol {

class SegmentList;
struct State;

// Where data belong.
struct OffloadPlace {
  const SegmentList& to;
  std::uint64_t offset = 0;
};

// Puts data of a frame into their place, or lets the engine do so. Counts what the engine took, and notes its
// tickets. `message` has the size of the message, its number and its class.
void offload_write(State& s, const OffloadPlace& place, const std::byte* data, std::uint32_t length,
                   const Offload::Message& message, OffloadTickets& tickets);
// Returns whether some of these copies still run.
bool offload_runs(State& s, const OffloadTickets& tickets);
// Returns whether some of these copies, which are over, may not have been made.
bool offload_failed(const State& s, const OffloadTickets& tickets);

}  // namespace omx::protocol
