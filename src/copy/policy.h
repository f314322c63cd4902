// SPDX-License-Identifier: BSD-3-Clause
// What is worth to be offloaded (copy-offload.md 9).
#pragma once

#include <cstdint>

#include "copy/engine.h"

namespace omx::copy {

struct Policy {
  std::uint32_t min_message = 64 * 1024;   // bytes; Open-MX's asynchronous default
  std::uint32_t min_piece = 0;             // bytes; 0: what the engine says
  std::uint32_t min_waited = 1024 * 1024;  // bytes of a message whose copies must be waited for, one by one
  std::uint32_t warm =
      0;  // bytes at the start of a message that the processor copies, for whoever reads them next
  std::uint32_t cpu_share = 5;  // when the owner must wait, it copies one part of so many itself; 0: none
};

// Whether a piece of a message should go to this engine. Pieces of small messages are wanted at once, and
// waiting for each made the original's medium messages slower (Cluster 2008).
inline bool offload_worth(const Policy& policy, const Capabilities& engine, std::uint64_t message_bytes,
                          std::uint64_t piece_bytes) {
  const std::uint32_t least = policy.min_piece > 0 ? policy.min_piece : engine.least_piece;
  return engine.asynchronous && message_bytes >= policy.min_message && piece_bytes >= least;
}
// The same where the owner has to wait for the copy: it shares the work (copy_wait).
inline bool wait_worth(const Policy& policy, const Capabilities& engine, std::uint64_t message_bytes,
                       std::uint64_t piece_bytes) {
  return message_bytes >= policy.min_waited && offload_worth(policy, engine, message_bytes, piece_bytes);
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
// `ticket`: what the engine gave its part, if it took one.
bool copy_wait(CopyEngine& engine, const Policy& policy, const Piece& piece, Ticket* ticket = nullptr);

}  // namespace omx::copy
