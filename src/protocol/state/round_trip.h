// SPDX-License-Identifier: BSD-3-Clause
// How long a partner takes to answer, and by how much its frames overtake each other: what all waiting for it
// follows (RFC 6298, RFC 8985). In 32 bits each: a large job has many idle partners.
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

class RoundTrip {
 public:
  // An answer came so long after what it answers.
  void measured(TimeNs now, TimeNs took) {
    advance(now);
    least_ = std::min(least_, clipped(took));
    waited(took);
  }
  // Takes the answer to a ping that was sent because nothing else told: a longer one begins the estimate
  // again.
  void told(TimeNs now, TimeNs took) {
    if (took > patience()) smoothed_ = 0;
    measured(now, took);
  }
  // An answer that may be that to a repetition came so long after what it answers, or what was repeated.
  void waited(TimeNs took) {
    const std::uint32_t sample = clipped(took);
    if (smoothed_ == 0) {
      smoothed_ = sample;
      variation_ = sample / 2;
      return;
    }
    const std::uint32_t apart = sample > smoothed_ ? sample - smoothed_ : smoothed_ - sample;
    variation_ = variation_ - variation_ / 4 + apart / 4;
    smoothed_ = std::max(smoothed_ - smoothed_ / 8 + sample / 8, 1U);
  }
  // A frame came so long after another one that had been sent later, or so it seems: where an acknowledgement
  // was lost, the next one is late. So belief grows by a part of a round trip at a time.
  void overtaken(TimeNs now, TimeNs by) {
    advance(now);
    const TimeNs late = std::min(by + by / 4, std::max<TimeNs>(smoothed_, kLateMost));
    if (late > late_) late_ = static_cast<std::uint32_t>(std::min<TimeNs>(late, late_ + smoothed_ / 4));
  }

  // One that was waited for as late did not come.
  void lost() { late_ -= late_ / 16; }

  bool known() const { return smoothed_ != 0; }
  TimeNs smoothed() const { return smoothed_; }
  // What takes longer is probably lost.
  TimeNs patience() const { return TimeNs{smoothed_} + 4 * TimeNs{variation_}; }
  // The shortest one, of which less is believed each second, as ways change. 0 before the first.
  TimeNs least() const { return least_ == kNone ? 0 : least_; }
  // Whether an answer that came so long after a repetition may be that to the repetition.
  bool answers(TimeNs since, TimeNs delayed) const { return since <= 2 * least() + delayed; }
  // What was overtaken may still come for so long.
  TimeNs lateness() const { return late_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kForgotten = 64;  // periods
  static constexpr unsigned kPeriod = 30;          // 2^30 ns, about a second
  // What is late by more than this and than a round trip is a repetition.
  static constexpr std::uint32_t kLateMost = kMillisecond;

  static std::uint32_t clipped(TimeNs time) {
    return static_cast<std::uint32_t>(std::clamp<TimeNs>(time, 1, kNone - 1));
  }
  void advance(TimeNs now) {
    const auto period = static_cast<std::uint32_t>(now >> kPeriod);
    if (period == period_) return;
    for (std::uint32_t i = std::min(period - period_, kForgotten); i > 0 && least_ < kNone / 2; i--)
      least_ += least_ / 8 + 1;
    late_ >>= std::min(period - period_, 31U);
    period_ = period;
  }

  std::uint32_t smoothed_ = 0, variation_ = 0;
  std::uint32_t least_ = kNone, late_ = 0, period_ = 0;
};

}  // namespace omx::protocol
