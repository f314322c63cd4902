// SPDX-License-Identifier: BSD-3-Clause
// Decides from where an endpoint reads its large messages by frames: the receive ring, or the kernel's bulk
// path for them (link/transport.h). It changes from one to the other in order, as a frame that overtakes
// others looks as if those were lost. This holds for the endpoint's own board; further boards (rails.cc) have
// the bulk path from the first message on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "link/transport.h"
#include "runtime/endpoint/placement_trial.h"

namespace omx::runtime {

class BulkPlacement {
 public:
  // Tries both ways. Without it the bulk path is used wherever a link has one.
  void begin(std::uint64_t first) { trial_.begin(first); }
  // Large messages come. Bytes and time as PlacementTrial::heard() has them.
  void choose(link::Transport& link, std::uint64_t bytes, TimeNs busy);
  // After the ring was read. `late`: it is time for a poll even if nothing is expected there.
  std::size_t receive(link::Transport& link, link::BulkHandler& handler, std::size_t budget, bool late);
  // Returns, once for each trial, whether it was the first or ended otherwise than the one before.
  bool news();
  const PlacementTrial& trial() const { return trial_; }

 private:
  // Turns that frames which came before the lane was to take them may keep us from it; and as much of the
  // lane is read before the ring.
  static constexpr unsigned kRingTurns = 64;

  // `lost`: a lane that took frames.
  void refused(std::uint64_t bytes, bool lost);

  PlacementTrial trial_;
  bool takes_ = false;       // the lane, new frames
  bool left_ = false;        // it may hold frames, though it takes none
  unsigned ring_turns_ = 0;  // left, of those
  bool told_ = false, told_kernel_ = false;
};

}  // namespace omx::runtime
