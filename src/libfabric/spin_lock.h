// SPDX-License-Identifier: BSD-3-Clause
// A lock for a few instructions. It takes one atomic operation where a mutex takes two. A thread that finds
// it taken gives the processor away, because the holder may be waiting for one.
#pragma once

#include <sched.h>

#include <atomic>

namespace omx::fabric {

class SpinLock {
 public:
  bool try_lock() { return !taken_.exchange(true, std::memory_order_acquire); }
  void lock() {
    while (!try_lock()) ::sched_yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace omx::fabric
