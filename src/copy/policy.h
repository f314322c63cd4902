// SPDX-License-Identifier: BSD-3-Clause
// What is worth to be offloaded (copy-offload.md 9). Pure functions, but for calibrate().
#pragma once

#include <cstdint>

#include "copy/engine.h"

namespace omx::copy {

struct Policy {
  std::uint32_t min_message = 64 * 1024;  // bytes; Open-MX's asynchronous default
  std::uint32_t cpu_share = 5;  // when the owner must wait, it copies one part of so many itself; 0: none
};

// Whether a piece of a message should go to this engine. Pieces of small messages are wanted at once, and
// waiting for each made the original's medium messages slower (Cluster 2008).
inline bool offload_worth(const Policy& policy, const Capabilities& engine, std::uint64_t message_bytes,
                          std::uint64_t piece_bytes) {
  return engine.asynchronous && message_bytes >= policy.min_message && piece_bytes >= engine.least_piece;
}

// Receive slots that pieces may hold: a ring of `slots` must never run dry.
inline std::uint32_t slots_held_most(std::uint32_t slots) {
  return slots / 4;
}

// Pieces that one of `processes` may have on a queue of which users may fill `threshold` entries: 1 to 32.
// One entry is left for the drain descriptor.
std::uint32_t outstanding_most(std::uint32_t threshold, std::uint32_t processes);

// Copies a piece and returns when it is there, sharing the work with the engine. False: the piece must be
// treated as failed (CopyEngine::failed). The split is at a 64-byte boundary of the destination, which
// devices like best.
bool copy_wait(CopyEngine& engine, const Policy& policy, const Piece& piece);

// What a copy costs the owner's thread, in nanoseconds for the sizes measured.
struct Calibration {
  struct Row {
    std::uint32_t bytes = 0;
    TimeNs memcpy_ns = 0;
    TimeNs submit_ns = 0;  // submit and poll, not the copy itself
  };
  Row rows[3];
  std::uint32_t least_piece = 0;  // the smallest size that is cheaper to submit; ~0: none
};
// Takes about 5 ms. The engine must have nothing outstanding.
Calibration calibrate(CopyEngine& engine);

}  // namespace omx::copy
