// SPDX-License-Identifier: BSD-3-Clause
#include "copy/cpu_engine.h"

#include <cstring>

namespace omx::copy {

Capabilities CpuEngine::capabilities() const {
  return {.name = "cpu", .asynchronous = false, .least_piece = 0, .most_outstanding = 1};
}

Submission CpuEngine::submit(const Piece& piece) {
  if (piece.bytes) std::memcpy(piece.destination, piece.source, piece.bytes);
  counters_.add(Counter::pieces);
  counters_.add(Counter::bytes, piece.bytes);
  counters_.add(Counter::cpu_bytes, piece.bytes);
  completed_ = ++submitted_;
  return {Answer::accepted, submitted_};
}

}  // namespace omx::copy
