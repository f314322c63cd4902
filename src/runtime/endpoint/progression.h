// SPDX-License-Identifier: BSD-3-Clause
// Whether the engine of an endpoint may process frames. It may not while progression is disabled, or while a
// thread runs the unexpected handler.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/wait/endpoint_lock.h"

namespace omx::runtime {

//             disable()                        handler_enter()
//   moving <--------------> disabled    moving ----------------> in the handler
//             enable()                    ^                            |
//                                         +----- handler_leave() ------+
class Progression {
 public:
  explicit Progression(EndpointLock& lock) : lock_(lock) {}

  bool disabled() const { return disabled_; }
  void disable() { disabled_ = true; }
  void enable() { disabled_ = false; }
  bool stopped() const { return disabled_ || in_handler(); }

  // Return whether some thread runs the handler, without the lock, and whether this thread does.
  bool in_handler() const { return thread_.load(std::memory_order_relaxed) != 0; }
  bool in_own_handler() const {
    return thread_.load(std::memory_order_relaxed) == EndpointLock::current_thread();
  }
  void handler_enter();
  void handler_leave();
  // Waits until no other thread runs the handler. The lock is released meanwhile.
  void handler_wait();

 private:
  EndpointLock& lock_;
  bool disabled_ = false;
  std::atomic<std::uintptr_t> thread_{0};  // the thread that runs the handler; written with the lock held
  std::atomic<std::uint32_t> ends_{
      0};  // how often the handler returned: a futex for threads that wait for it
  unsigned waiters_ = 0;
};

}  // namespace omx::runtime
