// SPDX-License-Identifier: BSD-3-Clause
#include "link/packet/zerocopy_policy.h"

#include <algorithm>

namespace omx::link {

namespace {

// Without a copy must cost at most this share, or a trial is not won. Reports also cost the kernel's time
// elsewhere, which is not measured here.
constexpr std::uint64_t kWonNumerator = 9, kWonDenominator = 10;

template <class Samples>
std::uint64_t median(Samples samples) {
  const auto middle = samples.begin() + samples.size() / 2;
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace

bool ZerocopyPolicy::wants() const {
  if (mode_ != ZerocopyMode::automatic) return mode_ == ZerocopyMode::always;
  // Batches of both kinds alternate, because what else the machine does changes.
  return state_ == State::in_use || (state_ == State::trying && counts_[1] <= counts_[0]);
}

void ZerocopyPolicy::rest() {
  state_ = State::resting;
  left_ = rest_;
  rest_ = std::min(2 * rest_, kRestMost);
}

void ZerocopyPolicy::trial_begin() {
  state_ = State::trying;
  counts_ = {};
  failures_ = 0;
}

void ZerocopyPolicy::judge() {
  if (median(samples_[1]) * kWonDenominator > median(samples_[0]) * kWonNumerator) return rest();
  state_ = State::in_use;
  left_ = kUse;
  rest_ = kRestLeast;
}

void ZerocopyPolicy::sent(bool without_copy, std::size_t bytes, TimeNs took) {
  if (mode_ != ZerocopyMode::automatic || bytes == 0) return;
  if (state_ != State::trying) {
    if (--left_ == 0) trial_begin();
    return;
  }
  std::uint32_t& count = counts_[without_copy];
  if (count < kSamples) samples_[without_copy][count++] = (static_cast<std::uint64_t>(took) << 20) / bytes;
  if (counts_[0] == kSamples && counts_[1] == kSamples) judge();
}

void ZerocopyPolicy::reported(std::uint32_t batches, bool copied) {
  if (mode_ != ZerocopyMode::automatic || state_ == State::resting) return;
  failures_ = copied ? failures_ + batches : failures_ - std::min(failures_, batches);
  if (failures_ >= kFailuresMost) rest();
}

void ZerocopyPolicy::refused() {
  reported(1, true);
}

}  // namespace omx::link
