// SPDX-License-Identifier: BSD-3-Clause
// Waiting by giving the processor away again and again, where spinning would keep it from the process that
// the thread waits for. To come round again costs a third of being woken. How long a wait may do so follows
// from how earlier waits ended.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace omx::runtime {

class Yielding {
 public:
  explicit Yielding(TimeNs most) : most_(most), budget_(most / 2) {}

  // Returns how long the wait that begins may yield before it sleeps. A wait that gave yielding up tries it
  // now and then.
  TimeNs next() {
    if (budget_ > 0 || ++waits_ < try_after_) return budget_;
    waits_ = 0;
    return most_ / 2;
  }
  // What it waited for came after `time` of it.
  void paid(TimeNs time) {
    try_after_ = kTryLeast;
    budget_ = std::clamp(4 * time, std::min(kLeast, most_), most_);
  }
  // It slept after all.
  void failed() {
    if (budget_ == 0) try_after_ = std::min(2 * try_after_, kTryMost);
    budget_ = budget_ / 2 >= kLeast ? budget_ / 2 : 0;
  }
  // One yield took `time`. Returns whether another thread computes here. That thread has the processor for as
  // long as the scheduler lets it, and a sleeping thread is woken before that.
  static bool computes(TimeNs time) { return time >= kComputes; }

 private:
  static constexpr TimeNs kLeast = 10'000, kComputes = 500'000;
  static constexpr unsigned kTryLeast = 64, kTryMost = 4096;  // waits

  TimeNs most_, budget_;
  unsigned waits_ = 0;  // that did not yield
  unsigned try_after_ = kTryLeast;
};

}  // namespace omx::runtime
