// SPDX-License-Identifier: BSD-3-Clause
// Decides which copies to offload (docs/spec/copy-offload.md 9).
#pragma once

#include <cstdint>

#include "copy/engine.h"

namespace omx::copy {

struct Policy {
  std::uint32_t min_message = 64 * 1024;   // bytes; Open-MX's asynchronous default
  std::uint32_t min_piece = 0;             // bytes; 0: the engine's own limit
  std::uint32_t min_waited = 1024 * 1024;  // bytes of a message whose copies must be waited for one by one
  // Bytes at the start of a message that the processor copies, for the code that reads them next.
  std::uint32_t warm = 0;
  std::uint32_t cpu_share = 5;  // the owner copies this fraction (one fifth) itself while it waits; 0: none
};

// Returns whether a piece of a message should go to this engine. Pieces of small messages are needed at once.
// Waiting for each of them made medium messages of the original Open-MX slower (Cluster 2008).
inline bool offload_worth(const Policy& policy, const Capabilities& engine, std::uint64_t message_bytes,
                          std::uint64_t piece_bytes) {
  const std::uint32_t least = policy.min_piece > 0 ? policy.min_piece : engine.least_piece;
  return engine.asynchronous && message_bytes >= policy.min_message && piece_bytes >= least;
}
// Returns the same as offload_worth() for copies that the owner must wait for and shares (copy_wait).
inline bool wait_worth(const Policy& policy, const Capabilities& engine, std::uint64_t message_bytes,
                       std::uint64_t piece_bytes) {
  return message_bytes >= policy.min_waited && offload_worth(policy, engine, message_bytes, piece_bytes);
}

// Returns how many receive slots pieces may hold: a ring of `slots` must never run dry.
inline std::uint32_t slots_held_most(std::uint32_t slots) {
  return slots / 4;
}

// Returns how many pieces one of `processes` may have on a queue of which users may fill `threshold` entries:
// 1 to 32. One entry is left for the drain descriptor.
std::uint32_t outstanding_most(std::uint32_t threshold, std::uint32_t processes);

// Copies a piece, shares the work with the engine, and returns when all is copied. Returns false if the piece
// must be treated as failed (CopyEngine::failed). The split is at a 64-byte boundary of the destination,
// which devices copy fastest. `ticket` receives the ticket of the engine's part, if the engine took one.
bool copy_wait(CopyEngine& engine, const Policy& policy, const Piece& piece, Ticket* ticket = nullptr);

}  // namespace omx::copy
