// SPDX-License-Identifier: BSD-3-Clause
// The endpoint's recursive lock. Without contention, one atomic exchange takes it and one releases it.
//
// A thread that polls takes and releases it without pause, so a futex sleeper would hardly ever find it
// free. Therefore threads that want the lock are counted and spin before they sleep. The poller calls
// give_way() when there are any.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cassert>
#include <cstdint>

#include "base/clock.h"
#include "base/futex.h"
#include "base/time.h"

namespace omx::runtime {

class EndpointLock {
 public:
  void lock() {
    const std::uintptr_t self = current_thread();
    if (owner_.load(std::memory_order_relaxed) != self) {
      std::uint32_t expected = kFree;
      if (!word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                         std::memory_order_relaxed))
        lock_slow();
      owner_.store(self, std::memory_order_relaxed);
    }
    depth_++;
  }

  bool try_lock() {
    const std::uintptr_t self = current_thread();
    if (owner_.load(std::memory_order_relaxed) != self) {
      std::uint32_t expected = kFree;
      if (!word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                         std::memory_order_relaxed))
        return false;
      owner_.store(self, std::memory_order_relaxed);
    }
    depth_++;
    return true;
  }

  void unlock() {
    assert(owned() && depth_ > 0);
    if (--depth_ > 0) return;
    owner_.store(0, std::memory_order_relaxed);
    if (word_.exchange(kFree, std::memory_order_release) == kHeldWithSleepers) futex_wake(word_, 1);
  }

  // Returns whether this thread holds the lock. Only this thread writes its own number into owner_, so a
  // relaxed load is enough.
  bool owned() const { return owner_.load(std::memory_order_relaxed) == current_thread(); }
  // Returns how often the owner has taken the lock.
  unsigned depth() const { return depth_; }

  // Releases the lock entirely, however often it was taken. retake() restores that.
  unsigned release() {
    const unsigned depth = depth_;
    depth_ = 1;
    unlock();
    return depth;
  }
  void retake(unsigned depth) {
    lock();
    depth_ = depth;
  }

  // Returns whether threads wait in lock().
  bool wanted() const { return wanted_.load(std::memory_order_relaxed) > 0; }

  // Lets waiting threads have the lock, between two turns of a poll loop. The caller does not hold it.
  void give_way() {
    if (!wanted()) return;
    // Long enough for a spinning thread to see the lock free. A sleeping thread needs the processor.
    for (int i = 0; i < 32 && wanted(); i++) cpu_relax();
    if (wanted()) ::sched_yield();
  }

  // Returns a number of this thread, without a call: the address of its control block, which on x86 points to
  // itself.
  static std::uintptr_t current_thread() {
#if defined(__x86_64__) && defined(__GLIBC__)
    std::uintptr_t self;
    asm("mov %%fs:0, %0" : "=r"(self));
    return self;
#elif defined(__aarch64__)
    return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
#else
    return static_cast<std::uintptr_t>(::pthread_self());
#endif
  }

 private:
  static constexpr std::uint32_t kFree = 0, kHeld = 1, kHeldWithSleepers = 2;

  __attribute__((noinline)) void lock_slow() {
    wanted_.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; i < 200; i++) {
      std::uint32_t expected = kFree;
      if (word_.load(std::memory_order_relaxed) == kFree &&
          word_.compare_exchange_weak(expected, kHeld, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        wanted_.fetch_sub(1, std::memory_order_relaxed);
        return;
      }
      cpu_relax();
    }
    while (word_.exchange(kHeldWithSleepers, std::memory_order_acquire) != kFree) {
      futex_wait(word_, kHeldWithSleepers, kNever);
    }
    wanted_.fetch_sub(1, std::memory_order_relaxed);
  }

  std::atomic<std::uint32_t> word_{kFree};
  std::atomic<std::uint32_t> wanted_{0};
  std::atomic<std::uintptr_t> owner_{0};
  unsigned depth_ = 0;  // how often the owner has taken the lock
};

}  // namespace omx::runtime
