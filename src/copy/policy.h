// SPDX-License-Identifier: BSD-3-Clause
// Decides which copies to offload (docs/spec/copy-offload.md 9).
#pragma once

#include <cstdint>

#include "copy/engine.h"

namespace omx::copy {

inline constexpr std::uint32_t kWaitedShared = 1024 * 1024, kWaitedApart = 64 * 1024;
// The head of a message that its reader touches first, and that half of a first-level cache holds.
inline constexpr std::uint32_t kWarmHead = 16 * 1024;

struct Policy {
  std::uint32_t min_message =
      64 * 1024;                // bytes; the default of the original's driver for asynchronous copies
  bool medium = false;          // fragments of medium messages, too, whatever their size
  bool tuned = false;           // larger messages may turn out to lose (threshold.h)
  std::uint32_t min_piece = 0;  // bytes; 0: the engine's own limit
  // As min_message, where each copy is waited for (inside a host). Processors that share a cache copy up to
  // its size faster than an engine (Cluster 2008, IV-D).
  std::uint32_t min_waited = kWaitedShared;
  // The processor copies pieces that begin before this offset of their message, so that they are in its
  // cache.
  std::uint32_t warm = 0;
  std::uint32_t cpu_share = 5;  // copy_wait(): the owner copies one part in `cpu_share` itself; 0: nothing
};

// Returns whether the engine copies pieces of that size.
inline bool piece_worth(const Policy& policy, const Capabilities& engine, std::uint64_t bytes) {
  return engine.asynchronous && bytes >= (policy.min_piece > 0 ? policy.min_piece : engine.least_piece);
}
// Returns whether a piece of a message should go to this engine. Small messages are waited for at
// once, so nothing would overlap. That made medium messages of the original slower (Cluster 2008).
inline bool offload_worth(const Policy& policy, const Capabilities& engine, std::uint64_t message_bytes,
                          std::uint64_t piece_bytes) {
  return message_bytes >= policy.min_message && piece_worth(policy, engine, piece_bytes);
}
// Returns the same as offload_worth() for copies that the owner must wait for and shares (copy_wait).
inline bool wait_worth(const Policy& policy, const Capabilities& engine, std::uint64_t message_bytes,
                       std::uint64_t piece_bytes) {
  return message_bytes >= policy.min_waited && offload_worth(policy, engine, message_bytes, piece_bytes);
}

// Returns how many of a receive ring's `slots` copies under way may hold: a quarter, so that frames always
// find a free one.
inline std::uint32_t slots_held_most(std::uint32_t slots) {
  return slots / 4;
}

// Returns how many pieces a process may have outstanding on a shared DSA queue: its equal part of the
// `threshold` entries that users may fill, less one for the drain descriptor, but 1 to 32.
std::uint32_t outstanding_most(std::uint32_t threshold, std::uint32_t processes);

// Copies a piece, shares the work with the engine, and returns when all is copied. Returns false if the piece
// must be treated as failed (CopyEngine::failed). If the processor takes a part, the engine's part
// begins at a 64-byte boundary of the destination, where devices are fastest. `ticket` receives the ticket of
// the engine's part, if the engine took one.
bool copy_wait(CopyEngine& engine, const Policy& policy, const Piece& piece, Ticket* ticket = nullptr);

}  // namespace omx::copy
