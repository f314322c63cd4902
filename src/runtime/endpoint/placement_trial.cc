// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/placement_trial.h"

#include <algorithm>

namespace omx::runtime {

namespace {

// Data that was asked for before a change may still come the former way.
constexpr std::uint64_t kSettle = 4 << 20;
// A sample takes a millisecond or more on the fastest links, so its two ends hardly matter.
constexpr std::uint64_t kSample = 16 << 20;
// The pause after a trial. It grows each time the result is the same, as machines and peers do not change
// often.
constexpr std::uint64_t kHoldLeast = std::uint64_t{1} << 30, kHoldMost = std::uint64_t{16} << 30;
// The kernel's way has one copy less, which may help other programs on this host. So the ring replaces it
// only if it is clearly faster. During a trial the kernel's socket slows the ring down, too.
constexpr std::uint64_t kRingAhead = 32;  // one part in this many

}  // namespace

void PlacementTrial::begin(std::uint64_t first) {
  begun_ = true;
  by_kernel_ = false;  // needs no socket, which programs with few large messages would not use
  hold_ = kHoldLeast / 2;
  next_ = std::max(first, kSettle);
}

void PlacementTrial::turn(std::uint64_t bytes, TimeNs busy) {
  if (settled()) {
    sample_ = 0;
    measuring_ = false;
  }
  if (!measuring_) {
    measuring_ = true;
    from_ = bytes;
    busy_ = busy;
    next_ = bytes + kSample;
    return;
  }
  const TimeNs time = std::max<TimeNs>(busy - busy_, 1);
  samples_[by_kernel_ ? 1 : 0][sample_ / 2] = (bytes - from_) * 1'000'000 / time;
  measuring_ = false;
  if (++sample_ < kSamples) {
    by_kernel_ = !by_kernel_;
    next_ = bytes + kSettle;
    return;
  }
  for (unsigned way = 0; way < 2; way++) {
    // Some samples are disturbed, and some include data that had come before but lay unread.
    auto sorted = samples_[way];
    std::nth_element(sorted.begin(), sorted.begin() + kTrialsEach / 2, sorted.end());
    rates_[way] = sorted[kTrialsEach / 2];
  }
  // The last sample used the way that the trial did not begin with.
  const bool former = !by_kernel_, by_kernel = rates_[0] < rates_[1] + rates_[1] / kRingAhead;
  refused_ = false;
  settle(bytes, by_kernel, by_kernel == former);
}

void PlacementTrial::refused(std::uint64_t bytes, bool by_kernel) {
  if (!begun_) return;
  const bool before = refused_;
  sample_ = kSamples;
  refused_ = true;
  settle(bytes, by_kernel, before && by_kernel == !by_kernel_);
}

void PlacementTrial::settle(std::uint64_t bytes, bool by_kernel, bool as_before) {
  by_kernel_ = by_kernel;
  hold_ = as_before ? std::min(hold_ * 2, kHoldMost) : kHoldLeast;
  next_ = bytes + hold_;
}

}  // namespace omx::runtime
