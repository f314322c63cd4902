// SPDX-License-Identifier: BSD-3-Clause
// The processor's tick counter, which costs a quarter of the vDSO's clock. It counts at a constant rate, on
// all cores alike, but its unit differs from machine to machine.
#pragma once

#include <cstdint>

namespace omx {

#if defined(__x86_64__)

inline constexpr bool kTicks = true;
inline std::uint64_t tick_now() {
  return __builtin_ia32_rdtsc();
}
// Returns the number of ticks in about that many microseconds. Counters run at 1 to 5 GHz.
inline std::uint64_t ticks_of_us(std::uint64_t us) {
  return us * 3000;
}

#elif defined(__aarch64__)

inline constexpr bool kTicks = true;
inline std::uint64_t tick_now() {
  std::uint64_t tick;
  asm volatile("mrs %0, cntvct_el0" : "=r"(tick));
  return tick;
}
// Returns the number of ticks in that many microseconds. Counters run at 24 MHz to 1 GHz, and tell their
// rate.
inline std::uint64_t ticks_of_us(std::uint64_t us) {
  std::uint64_t hertz;
  asm("mrs %0, cntfrq_el0" : "=r"(hertz));
  return us * hertz / 1'000'000;
}

#else

inline constexpr bool kTicks = false;
inline std::uint64_t tick_now() {
  return 0;
}
inline std::uint64_t ticks_of_us(std::uint64_t) {
  return 0;
}

#endif

}  // namespace omx
