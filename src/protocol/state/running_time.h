// SPDX-License-Identifier: BSD-3-Clause
// The engine's time: the time of its caller, less the time in which the engine was not run.
//
// A process that is stopped (SIGSTOP, a suspended virtual machine, a debugger) or that does not call the
// library cannot hear its peers. Such time counts for no time-out of connects, messages, pulls or pings. The
// engine notices it by its own timers. Pending work keeps a timer armed for at most a second ahead. So a
// timer that fires much too late shows that the engine was not run since.
#pragma once

#include <algorithm>

#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

// A timer may be this late on a busy host without counting as an absence.
inline constexpr TimeNs kLatenessMost = 100 * kMillisecond;

// Sets State::now from the caller's time. Time never goes back, so callers that have none at hand pass 0.
inline void time_enter(State& s, TimeNs outside) {
  if (outside < s.absent + s.now) return;
  const TimeNs now = outside - s.absent;
  const TimeNs due = s.timers.next();
  if (due != kNever) {
    const TimeNs expected = std::max(s.now, due);
    if (now > expected + kLatenessMost) [[unlikely]] {
      const TimeNs missed = now - expected - kLatenessMost;
      s.absent += missed;
      s.now = now - missed;
      return;
    }
  }
  s.now = now;
}

// Returns the caller's time for a time of the engine.
inline TimeNs time_outside(const State& s, TimeNs inside) {
  return inside == kNever ? kNever : inside + s.absent;
}

}  // namespace omx::protocol
