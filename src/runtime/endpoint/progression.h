// SPDX-License-Identifier: BSD-3-Clause
// Whether the engine of an endpoint may move: not while progression is disabled, nor while a thread runs the
// unexpected handler.
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

  // Whether some thread runs the handler (it does not hold the lock); whether this one does. Without the
  // lock.
  bool in_handler() const { return thread_.load(std::memory_order_relaxed) != 0; }
  bool in_own_handler() const {
    return thread_.load(std::memory_order_relaxed) == EndpointLock::current_thread();
  }
  void handler_enter();
  void handler_leave();
  // Until no other thread runs the handler; the lock is released meanwhile.
  void handler_wait();

 private:
  EndpointLock& lock_;
  bool disabled_ = false;
  std::atomic<std::uintptr_t> thread_{0};  // that runs it; written with the lock held
  std::atomic<std::uint32_t> ends_{0};     // how often it returned: a futex for those who wait
  unsigned waiters_ = 0;
};

}  // namespace omx::runtime
