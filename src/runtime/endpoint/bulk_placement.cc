// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/bulk_placement.h"

namespace omx::runtime {

void BulkPlacement::choose(link::Transport& link, std::uint64_t bytes, TimeNs busy) {
  trial_.heard(bytes, busy);
  link::BulkPath* const path = link.bulk_path();
  if (trial_.by_kernel()) {
    const bool took = takes_;
    takes_ = path && path->expect();
    if (takes_ && !took) ring_turns_ = kRingTurns;
    if (!takes_) refused(bytes, took);
  } else if (takes_) {
    takes_ = !path->forgo();
    if (takes_) return refused(bytes, false);
    left_ = true;
    ring_turns_ = 0;
  } else if (path && trial_.settled() && !left_) {
    path->close();
  }
}

void BulkPlacement::refused(std::uint64_t bytes, bool lost) {
  if (lost) {
    left_ = true;
    ring_turns_ = 0;
  }
  trial_.refused(bytes, takes_);
  told_ = false;  // what was logged last no longer holds
}

std::size_t BulkPlacement::receive(link::Transport& link, link::BulkHandler& handler, std::size_t budget,
                                   bool late) {
  if (ring_turns_ > 0 && link.pending() && --ring_turns_ > 0) return 0;
  ring_turns_ = 0;
  // Reads the bulk path even when it takes no new frames: now and then a frame was on its way into it.
  if (!late && !takes_ && !left_) return 0;
  link::BulkPath* const path = link.bulk_path();
  if (!path) return 0;
  std::size_t frames = path->receive(handler, budget);
  if (takes_) return frames;
  // Reads all of it before the ring has later frames.
  std::size_t more = frames;
  for (unsigned turn = 0; turn < kRingTurns && more > 0; turn++, frames += more)
    more = path->receive(handler, budget);
  const bool ended = left_ && frames == 0;
  left_ = frames > 0;
  if (ended && trial_.by_kernel()) path->close();  // the path ended by itself; the next try uses a new one
  return frames;
}

bool BulkPlacement::news() {
  if (!trial_.compared() || (told_ && told_kernel_ == trial_.by_kernel())) return false;
  told_ = true;
  told_kernel_ = trial_.by_kernel();
  return true;
}

}  // namespace omx::runtime
