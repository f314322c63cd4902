// SPDX-License-Identifier: BSD-3-Clause
// Measures how fast large messages come by frames from other hosts, while any are on their way. Two ways of
// taking them in can be compared by it (docs/explanation/copies.md).
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

class PullPace {
 public:
  // Notes that a pull begins. leave() notes that it ends.
  void enter(TimeNs now) {
    advance(now);
    running_++;
  }
  void leave(TimeNs now) {
    advance(now);
    running_--;
  }
  void arrived(TimeNs now, std::uint32_t bytes) {
    advance(now);
    bytes_ += bytes;
  }

  bool running() const { return running_ > 0; }
  std::uint64_t bytes() const { return bytes_; }
  // Returns how long some pull ran, up to the last event.
  TimeNs busy() const { return busy_; }

 private:
  // Longer than any turn takes. A sender that is silent for longer tells nothing about the way of copying.
  static constexpr TimeNs kSilence = kMillisecond;
  // From the end of a message to the announcement of the next one, if its sender has nothing else to do.
  static constexpr TimeNs kGap = kMillisecond / 100;

  void advance(TimeNs now) {
    busy_ += std::min(now - last_, running_ > 0 ? kSilence : kGap);
    last_ = now;
  }

  std::uint32_t running_ = 0;
  std::uint64_t bytes_ = 0;
  TimeNs busy_ = 0, last_ = 0;
};

}  // namespace omx::protocol
