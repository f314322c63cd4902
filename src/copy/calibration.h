// SPDX-License-Identifier: BSD-3-Clause
// The cost of copies on this machine, measured instead of trusted (docs/spec/copy-offload.md 9). The
// processor copies, an engine does, or the kernel does when it receives into the final place.
#pragma once

#include <array>
#include <cstdint>

#include "copy/engines.h"

namespace omx::copy {

// The cost of a piece for its owner's thread, in nanoseconds, by size. 0 means that it could not be measured.
struct Calibration {
  struct Row {
    std::uint32_t bytes = 0;
    TimeNs memcpy_in_ns = 0;   // source and destination are in cache
    TimeNs memcpy_out_ns = 0;  // neither is in cache, as with data that a NIC has just written
    TimeNs submit_ns = 0;      // submit and poll, not the copy itself
    TimeNs engine_ns = 0;      // until the engine has copied one of many pieces
    // the kernel copies a datagram of that size, out of cache: one datagram's part of a call
    TimeNs place_ns = 0;
  };
  std::array<Row, 4> rows;
  // From this size on submitting is cheaper than copying, and the engine keeps up with the processor; ~0:
  // from no size on.
  std::uint32_t least_piece = ~0U;
  // Submitting is cheap, but the engine needs more than 1.25 times the processor's time for the largest
  // pieces. Messages would end later than without it.
  bool too_slow = false;
  // Finds both from the rows.
  void judge();
  const Row& row_for(std::uint32_t bytes) const;  // the largest row not above `bytes`, else the smallest
};
// Measures an engine, which takes some milliseconds and 8 MiB. The engine must have nothing outstanding.
Calibration calibrate(CopyEngine& engine);
// Measures an engine when first called for its kind in this process, and returns the same result from then
// on. Any thread may call it.
const Calibration& calibration(EngineKind kind, CopyEngine& engine);

}  // namespace omx::copy
