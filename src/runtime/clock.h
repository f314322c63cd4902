// SPDX-License-Identifier: BSD-3-Clause
// The time that the engine is given.
#pragma once

#include "base/clock.h"
#include "protocol/types.h"

namespace omx::runtime {

using protocol::TimeNs;

using omx::clock_now;

// Like clock_now(), but a reading serves for some microseconds. The processor's tick counter tells whether
// it still does, and costs a quarter of the vDSO's clock. Deadlines are hundreds of microseconds away.
class RecentClock {
 public:
  TimeNs now() {
#if defined(__x86_64__)
    const std::uint64_t tick = __builtin_ia32_rdtsc();
    if (tick - tick_ < kFreshTicks) return now_;
    tick_ = tick;
#endif
    return now_ = clock_now();
  }
  // Reads the clock again after a pause.
  TimeNs read() {
    tick_ = 0;
    return now();
  }

 private:
  static constexpr std::uint64_t kFreshTicks = 16384;
  std::uint64_t tick_ = 0;
  TimeNs now_ = 0;
};

// Returns the time `ms` after `now`, without overflow; never for ~0 (kForever).
inline TimeNs deadline_after_ms(TimeNs now, std::uint64_t ms) {
  constexpr std::uint64_t kLongest = 1ULL << 43;  // milliseconds; about 280 years
  return ms > kLongest ? protocol::kNever : now + ms * protocol::kMillisecond;
}

}  // namespace omx::runtime
