// SPDX-License-Identifier: BSD-3-Clause
// Tells whether an application has polled without a break, so that the progress thread may stay away for
// longer. Each poll of the progress thread costs an application on a busy processor two switches and a cold
// cache. An application that has polled for long will go on for a while. If it computes instead, it loses a
// small part of the time that it polled.
//
// Polls that become rarer are a sign of computation between them, so growth begins again then. After a long
// absence the number of polls says nothing about the last moments: silent() does.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace omx::runtime {

class SteadyCalls {
 public:
  // MX programs give a connect 5 ms to be answered by one that does not call (docs/spec/mx-clients.md 2).
  static constexpr TimeNs kAwayLeast = 2'000'000, kAwayMost = 4'000'000;
  // An absence lasts at most this part of the time that the application has polled.
  static constexpr TimeNs kPart = 64;

  // Returns whether the application has stopped calling, however often it called before. Judges only after an
  // absence longer than kAwayLeast. `last_call`: the last call that read the clock.
  bool silent(TimeNs away, TimeNs now, TimeNs last_call) const {
    if (away <= kAwayLeast || best_rate_ == 0) return false;
    return now > last_call + std::max(kSilence, kUntimedCalls * kSecond / best_rate_);
  }

  // Counts calls from here on, after a break.
  void restart(TimeNs now, std::uint64_t calls) {
    since_ = seen_at_ = now;
    seen_ = calls;
    best_rate_ = 0;
  }

  // Returns, at a poll, how long the next absence may last.
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
  // Polls that find nothing read the clock every sixteenth time. This is twice that number, since such polls
  // do not come evenly.
  static constexpr std::uint64_t kUntimedCalls = 32;

  TimeNs since_ = 0, seen_at_ = 0;
  std::uint64_t seen_ = 0, best_rate_ = 0;  // calls, calls a second
};

}  // namespace omx::runtime
