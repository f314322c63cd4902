// SPDX-License-Identifier: BSD-3-Clause
// The time that the engine is given.
#pragma once

#include "base/clock.h"
#include "base/tick.h"
#include "protocol/types.h"

namespace omx::runtime {

using protocol::TimeNs;

using omx::clock_now;

// Like clock_now(), but a reading serves for some microseconds. The processor's tick counter tells whether
// it still does. Deadlines are hundreds of microseconds away. Without a counter each reading is a new one.
class RecentClock {
 public:
  TimeNs now() {
    if constexpr (kTicks) {
      const std::uint64_t tick = tick_now();
      if (tick - tick_ < fresh_ticks_) return now_;
      tick_ = tick;
    }
    return now_ = clock_now();
  }
  // Reads the clock again after a pause.
  TimeNs read() {
    if constexpr (kTicks) tick_ = tick_now();
    return now_ = clock_now();
  }

 private:
  static constexpr std::uint64_t kFreshUs = 5;
  std::uint64_t fresh_ticks_ = ticks_of_us(kFreshUs);
  std::uint64_t tick_ = 0;
  TimeNs now_ = 0;
};

// Returns the time `ms` after `now`, without overflow; never for ~0 (kForever).
inline TimeNs deadline_after_ms(TimeNs now, std::uint64_t ms) {
  constexpr std::uint64_t kLongest = 1ULL << 43;  // milliseconds; about 280 years
  return ms > kLongest ? protocol::kNever : now + ms * protocol::kMillisecond;
}

}  // namespace omx::runtime
