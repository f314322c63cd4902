// SPDX-License-Identifier: BSD-3-Clause
// Decides from where an endpoint reads large messages that come by frames: the receive ring, or the kernel's
// bulk path (link/transport.h). It changes between the two so that frames stay in order: a frame that
// overtakes others makes them look lost. This holds for the endpoint's own board. Further boards (rails.cc)
// have the bulk path from the first message on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "link/transport.h"
#include "runtime/endpoint/placement_trial.h"

namespace omx::runtime {

class BulkPlacement {
 public:
  // Begins the trial of both ways. Without a trial the bulk path is used wherever a link has one.
  void begin(std::uint64_t first) { trial_.begin(first); }
  // Chooses the way for large messages that come. `bytes` and `busy` as in PlacementTrial::heard().
  void choose(link::Transport& link, std::uint64_t bytes, TimeNs busy);
  // Reads the bulk path, after the ring was read. `late`: reads it even if nothing is expected there.
  std::size_t receive(link::Transport& link, link::BulkHandler& handler, std::size_t budget, bool late);
  // Returns, once for each trial, whether it was the first, or ended differently from the one before.
  bool news();
  const PlacementTrial& trial() const { return trial_; }

 private:
  // How many turns may pass while the ring still holds frames that came before the bulk path took over. Also
  // how many reads of the bulk path come before the ring when it is left.
  static constexpr unsigned kRingTurns = 64;

  // Settles on the way in use. `lost`: the bulk path was taking frames and is lost.
  void refused(std::uint64_t bytes, bool lost);

  PlacementTrial trial_;
  bool takes_ = false;       // the bulk path takes new frames
  bool left_ = false;        // the bulk path takes no new frames, but may hold some
  unsigned ring_turns_ = 0;  // remaining of kRingTurns
  bool told_ = false, told_kernel_ = false;
};

}  // namespace omx::runtime
