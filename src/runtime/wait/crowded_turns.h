// SPDX-License-Identifier: BSD-3-Clause
// How long the progress thread stays away where more threads want to run than there are processors. There
// each of its looks costs the application ten microseconds and a cold cache, and a thread that polls gets
// little of a processor. So a single turn of the engine since the last look shows that the application does
// not compute.
//
// The next look follows some time after the last turn, and later after long polling. A connect may then wait
// for longer than the 5 ms that MX programs give it (docs/spec/mx-clients.md 2), as it may on such a host for
// a processor.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/wait/steady_calls.h"

namespace omx::runtime {

class CrowdedTurns {
 public:
  // An absence, from the last turn on. Turns that find nothing seldom read the clock, so the last one may be
  // later than it seems. Hence the least time from now on.
  static constexpr TimeNs kAway = SteadyCalls::kAwayMost, kAwayMost = 16'000'000;
  static constexpr TimeNs kAwayLeast = 1'000'000;
  // An absence lasts at most this part of the time in which each look found several turns. Fewer are a sign
  // of computation between them.
  static constexpr TimeNs kPart = SteadyCalls::kPart;
  static constexpr std::uint64_t kTurns = 4;

  // Counts turns from here on, after a break.
  void restart(TimeNs now, std::uint64_t turns) {
    since_ = now;
    seen_ = turns;
  }
  // Says that the application slept until now, instead of polling.
  void rested(TimeNs now) { since_ = now; }
  // Returns whether no turn was taken since the last look.
  bool none(std::uint64_t turns) const { return turns == seen_; }

  // Records a look. Returns how long to stay away. `last_turn`: the time of the last turn, as it read the
  // clock.
  TimeNs look(TimeNs now, std::uint64_t turns, TimeNs last_turn) {
    const bool found = !none(turns);
    if (turns - seen_ < kTurns) since_ = now;
    seen_ = turns;
    most_ = std::clamp((now - since_) / kPart, kAway, kAwayMost);
    return found ? std::max(most_ - std::min(most_, now - last_turn), kAwayLeast) : most_;
  }
  // Returns the longest absence that follows that look.
  TimeNs most() const { return most_; }

 private:
  TimeNs since_ = 0;  // the application has polled since then
  TimeNs most_ = kAway;
  std::uint64_t seen_ = 0;
};

}  // namespace omx::runtime
