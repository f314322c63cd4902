// SPDX-License-Identifier: BSD-3-Clause
// How long the progress thread stays away where more threads want to run than there are processors. There
// each of its looks costs the application some tens of microseconds, and a thread that polls gets little of a
// processor. So a single turn of the engine since the last look shows that the application does not compute.
//
// The next look follows some time after the last turn. After long polling it follows later: no scheduler that
// has to share a processor promises an answer within the 5 ms that MX programs give a connect
// (docs/spec/mx-clients.md 2).
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/wait/steady_calls.h"

namespace omx::runtime {

class CrowdedTurns {
 public:
  // Bounds of an absence, from the last turn on. Turns that find nothing seldom read the clock, so the last
  // one may be later than it seems. Hence the least time from now on.
  static constexpr TimeNs kAway = SteadyCalls::kAwayMost, kAwayMost = 16'000'000;
  static constexpr TimeNs kAwayLeast = 1'000'000;
  static constexpr TimeNs kPart = SteadyCalls::kPart;  // an absence to the time of such polling

  // Counts turns from here on, after a break.
  void restart(TimeNs now, std::uint64_t turns) {
    since_ = now;
    seen_ = turns;
  }
  // Returns whether no turn was taken since the last look.
  bool none(std::uint64_t turns) const { return turns == seen_; }
  // Records a look that found turns.
  void found(std::uint64_t turns) { seen_ = turns; }

  // Returns the longest absence that fits an application that took turns all the time.
  TimeNs most(TimeNs now) const { return std::clamp((now - since_) / kPart, kAway, kAwayMost); }
  // Returns how long to stay away now. `last_turn`: the last turn that read the clock.
  TimeNs away(TimeNs now, TimeNs last_turn) const {
    return std::max(most(now) - std::min(most(now), now - last_turn), kAwayLeast);
  }

 private:
  TimeNs since_ = 0;  // each look since then found turns
  std::uint64_t seen_ = 0;
};

}  // namespace omx::runtime
