// SPDX-License-Identifier: BSD-3-Clause
// What copies cost on this machine, measured instead of trusted (copy-offload.md 9): by the processor, by an
// engine, and by the kernel that receives straight into the place.
#pragma once

#include <array>
#include <cstdint>

#include "copy/engines.h"

namespace omx::copy {

// What a piece costs its owner's thread, in nanoseconds, for the sizes measured. 0: could not be measured.
struct Calibration {
  struct Row {
    std::uint32_t bytes = 0;
    TimeNs memcpy_in_ns = 0;   // source and destination in cache
    TimeNs memcpy_out_ns = 0;  // both out of it, as what a NIC has just written and nobody has read
    TimeNs submit_ns = 0;      // submit and poll, not the copy itself
    TimeNs engine_ns = 0;      // until the engine has copied one of many
    TimeNs place_ns = 0;  // the kernel copies a datagram of that size, out of cache: its share of one call
  };
  std::array<Row, 4> rows;
  std::uint32_t least_piece = 0;  // from this size on it is cheaper to submit than to copy; ~0: from none
  const Row& row_for(std::uint32_t bytes) const;  // the largest not above it; the smallest if there is none
};
// Takes some milliseconds and 8 MiB. The engine must have nothing outstanding.
Calibration calibrate(CopyEngine& engine);
// The same, measured when first asked for in this process and then remembered. Any thread.
const Calibration& calibration(EngineKind kind, CopyEngine& engine);

}  // namespace omx::copy
