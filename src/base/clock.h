// SPDX-License-Identifier: BSD-3-Clause
// CLOCK_MONOTONIC, which the vDSO reads without a system call, and a pause between two readings.
#pragma once

#include <time.h>

#include "base/time.h"

namespace omx {

inline TimeNs clock_now() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<TimeNs>(now.tv_sec) * 1'000'000'000 + static_cast<TimeNs>(now.tv_nsec);
}

inline timespec timespec_of(TimeNs time) {
  return {static_cast<time_t>(time / 1'000'000'000), static_cast<long>(time % 1'000'000'000)};
}

// Leaves the core to its other hardware thread for a moment.
inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace omx
