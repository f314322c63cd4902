// SPDX-License-Identifier: BSD-3-Clause
// Waiting by giving the processor away again and again. Spinning would keep it from the process that the
// thread waits for. A yield and the way back cost a third of a wake-up. The results of earlier waits say how
// long a wait may do so.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace omx::runtime {

class Yielding {
 public:
  explicit Yielding(TimeNs most) : most_(most), budget_(most / 2) {}

  // Returns how long the wait that begins may yield before it sleeps. If yielding was given up, a wait tries
  // it now and then.
  TimeNs next() {
    if (budget_ > 0 || ++waits_ < try_after_) return budget_;
    waits_ = 0;
    return most_ / 2;
  }
  // Records that the wait ended after yielding for `time`.
  void paid(TimeNs time) {
    try_after_ = kTryLeast;
    budget_ = std::clamp(4 * time, std::min(kLeast, most_), most_);
  }
  // Records that the wait slept after all.
  void failed() {
    if (budget_ == 0) try_after_ = std::min(2 * try_after_, kTryMost);
    budget_ = budget_ / 2 >= kLeast ? budget_ / 2 : 0;
  }
  // Returns whether another thread computes on this processor, given that one yield took `time`. Such a
  // thread keeps the processor as long as the scheduler lets it. A sleeping thread is woken before that.
  static bool computes(TimeNs time) { return time >= kComputes; }

 private:
  static constexpr TimeNs kLeast = 10'000, kComputes = 500'000;
  static constexpr unsigned kTryLeast = 64, kTryMost = 4096;  // waits

  TimeNs most_, budget_;
  unsigned waits_ = 0;  // that did not yield
  unsigned try_after_ = kTryLeast;
};

}  // namespace omx::runtime
