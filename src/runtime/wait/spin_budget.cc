// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/spin_budget.h"

#include <algorithm>

namespace omx::runtime {

namespace {
// A shorter spin finds nothing.
constexpr TimeNs kSpinLeast = 4'000;
constexpr unsigned kTryLeast = 64, kTryMost = 4096;  // waits
}  // namespace

void SpinBudget::spin_paid(TimeNs time) {
  waited(time);
  yields_ = false;
  try_after_ = kTryLeast;
  spin_ = std::min(std::max({2 * spin_, 4 * time, kSpinLeast}), most_);
}

void SpinBudget::spin_failed(TimeNs spun) {
  if (spin_ == 0 && spun > 0) try_after_ = std::min(2 * try_after_, kTryMost);
  spin_ = spin_ / 2 >= kSpinLeast ? spin_ / 2 : 0;
}

void SpinBudget::yields_paid(TimeNs spun, TimeNs time, TimeNs yielded) {
  waited(time);
  spin_failed(spun);
  yielding_.paid(yielded);
}

TimeNs SpinBudget::next() {
  if (spin_ > 0 || ++waits_ < try_after_) return spin_;
  waits_ = 0;
  return waited_ <= most_ ? std::min(2 * waited_ + kSpinLeast, most_) : 0;
}

}  // namespace omx::runtime
