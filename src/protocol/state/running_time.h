// SPDX-License-Identifier: BSD-3-Clause
// The engine's time: that of its caller, less the time in which the engine was not run.
//
// A process that is stopped (SIGSTOP, a suspended virtual machine, a debugger) or that does not call the
// library cannot hear its peers. Such time counts for no time-out: not for connects, not for messages, pulls
// or pings. The engine notices it by its own timers: whatever is pending keeps one armed for at most a second
// ahead, so a timer that fires much too late shows that the engine was not run since then.
#pragma once

#include <algorithm>

#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

// A timer may be this late on a busy host without being taken for an absence.
inline constexpr TimeNs kLatenessMost = 100 * kMillisecond;

// Sets State::now from the caller's time. Time never goes back: callers that have none at hand pass 0.
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

// The caller's time for one of the engine.
inline TimeNs time_outside(const State& s, TimeNs inside) {
  return inside == kNever ? kNever : inside + s.absent;
}

}  // namespace omx::protocol
