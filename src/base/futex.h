// SPDX-License-Identifier: BSD-3-Clause
// The two futex calls that the endpoint's lock and its sleeping threads need. std::atomic::wait has no
// timeout.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "base/clock.h"

namespace omx {

enum class FutexWait { woken, timed_out, interrupted };

// Sleeps while `word` is `expected`, until `deadline` on CLOCK_MONOTONIC (kNever: no limit).
inline FutexWait futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs deadline) {
  static_assert(sizeof(std::atomic<std::uint32_t>) == 4);
  const timespec at = timespec_of(deadline);
  const long result = ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
                                deadline == kNever ? nullptr : &at, nullptr, FUTEX_BITSET_MATCH_ANY);
  if (result == 0 || errno == EAGAIN) return FutexWait::woken;
  return errno == ETIMEDOUT ? FutexWait::timed_out : FutexWait::interrupted;
}

inline void futex_wake(std::atomic<std::uint32_t>& word, int count) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, nullptr, nullptr, 0);
}

// A park slot of one thread: park() sleeps until another thread calls unpark(). An unpark() that comes first
// is remembered.
class Parker {
 public:
  FutexWait park(TimeNs deadline) {
    FutexWait result = FutexWait::woken;
    while (word_.exchange(0, std::memory_order_acquire) == 0) {
      result = futex_wait(word_, 0, deadline);
      if (result != FutexWait::woken) break;
    }
    return result;
  }
  // Wakes the thread. The Parker must outlive this call. So the caller holds the lock that the owner takes
  // before it destroys the slot.
  void unpark() {
    if (word_.exchange(1, std::memory_order_release) == 0) futex_wake(word_, 1);
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace omx
