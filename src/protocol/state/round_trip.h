// SPDX-License-Identifier: BSD-3-Clause
// How long a peer takes to answer, and by how much its frames overtake each other. All waiting for the peer
// follows from this (RFC 6298, RFC 8985). Each value has 32 bits, because a large job has many idle peers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

class RoundTrip {
 public:
  // Takes the time from a packet to its answer.
  void measured(TimeNs now, TimeNs took) {
    advance(now);
    if (least_ == kNone) smoothed_ = 0;  // what waited() knew was only a bound
    least_ = std::min(least_, clipped(took));
    waited(took);
  }
  // Takes the answer to a ping that was sent because no other answer could be measured. A time longer than
  // expected begins the estimate again.
  void told(TimeNs now, TimeNs took) {
    if (took > patience()) smoothed_ = 0;
    measured(now, took);
  }
  // Takes the time to an answer when that may answer the first packet or a repetition.
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
  // Notes that a frame came later, by this time, than one that was sent after it. Where an acknowledgement
  // was lost, the next one only seems late. So the lateness grows by a part of a round trip at a time.
  void overtaken(TimeNs now, TimeNs by) {
    advance(now);
    const TimeNs late = std::min(by + by / 4, std::max<TimeNs>(smoothed_, kLateMost));
    if (late > late_) late_ = static_cast<std::uint32_t>(std::min<TimeNs>(late, late_ + smoothed_ / 4));
  }

  // Notes that a frame which was waited for as late did not come.
  void lost() { late_ -= late_ / 16; }

  bool known() const { return smoothed_ != 0; }
  TimeNs smoothed() const { return smoothed_; }
  // Returns the time after which an answer is probably lost.
  TimeNs patience() const { return TimeNs{smoothed_} + 4 * TimeNs{variation_}; }
  // Returns the shortest time to an answer, or 0 before the first. It grows each second, because paths
  // change.
  TimeNs least() const { return least_ == kNone ? 0 : least_; }
  // Returns whether an answer that came this long after a repetition may answer that repetition.
  bool answers(TimeNs since, TimeNs delayed) const { return since <= 2 * least() + delayed; }
  // Returns for how long an overtaken frame may still come.
  TimeNs lateness() const { return late_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kForgotten = 64;  // periods
  static constexpr unsigned kPeriod = 30;          // 2^30 ns, about a second
  // A frame that is later than this and than a round trip is taken for a repetition.
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
