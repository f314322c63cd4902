// SPDX-License-Identifier: BSD-3-Clause
// A deadline that counts only time in which this process ran, for loops that check it often. A process that
// was stopped must not conclude, when it goes on, that its peers had their time to answer.
#pragma once

#include "runtime/clock.h"

namespace omx::runtime {

class RunningDeadline {
 public:
  RunningDeadline(TimeNs now, std::uint64_t ms) : at_(deadline_after_ms(now, ms)), seen_(now) {}

  // Returns whether the deadline has passed. Call it at least every kStep. A longer pause counts as an
  // absence of the process.
  bool passed(TimeNs now) {
    const TimeNs since = now > seen_ ? now - seen_ : 0;
    if (since > kStep && at_ != protocol::kNever) at_ += since - kStep;
    seen_ = now;
    return now >= at_;
  }
  TimeNs at() const { return at_; }

  static constexpr TimeNs kStep = 1'000 * protocol::kMillisecond;

 private:
  TimeNs at_;
  TimeNs seen_;
};

}  // namespace omx::runtime
