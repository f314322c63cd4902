// SPDX-License-Identifier: BSD-3-Clause
// Whether an application has polled without a break, so that the progress thread may look away for longer:
// each of its looks costs a poller on a busy processor two switches and a cold cache. Who has polled for long
// will go on for a while; should it compute instead, what it loses is a small part of the time it polled.
//
// Polls that become rarer are a sign of computation between them, so growth begins anew then. And after a
// long look away their number says nothing of the last moments: silent() does.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace omx::runtime {

class SteadyCalls {
 public:
  // MX programs give a connect 5 ms to be answered by one that does not call (docs/spec/mx-clients.md 2).
  static constexpr TimeNs kAwayLeast = 2'000'000, kAwayMost = 4'000'000;
  // A look away lasts at most this part of the time that the application has polled.
  static constexpr TimeNs kPart = 64;

  // Whether it has stopped calling, however often it did before; after a look away that was longer than
  // those of who has not polled for long. `last_call`: of those that read the clock.
  bool silent(TimeNs away, TimeNs now, TimeNs last_call) const {
    if (away <= kAwayLeast || best_rate_ == 0) return false;
    return now > last_call + std::max(kSilence, kUntimedCalls * kSecond / best_rate_);
  }

  // Calls are counted from here: there was a break.
  void restart(TimeNs now, std::uint64_t calls) {
    since_ = seen_at_ = now;
    seen_ = calls;
    best_rate_ = 0;
  }

  // At a look: how long the next look away may last.
  TimeNs away_most(TimeNs now, std::uint64_t calls) {
    if (now <= seen_at_) return kAwayLeast;
    const std::uint64_t rate = (calls - seen_) * kSecond / (now - seen_at_);
    if (2 * rate < best_rate_ || rate == 0) since_ = now, best_rate_ = 0;
    best_rate_ = std::max(best_rate_, rate);
    seen_at_ = now;
    seen_ = calls;
    return std::clamp((now - since_) / kPart, kAwayLeast, kAwayMost);
  }

 private:
  static constexpr TimeNs kSecond = 1'000'000'000, kSilence = 500'000;
  // Polls in vain read it every sixteenth time; twice that, as they do not come evenly.
  static constexpr std::uint64_t kUntimedCalls = 32;

  TimeNs since_ = 0, seen_at_ = 0;
  std::uint64_t seen_ = 0, best_rate_ = 0;  // calls, calls a second
};

}  // namespace omx::runtime
