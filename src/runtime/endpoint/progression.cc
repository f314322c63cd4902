// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/progression.h"

#include <cassert>
#include <climits>

#include "base/futex.h"

namespace omx::runtime {

void Progression::handler_enter() {
  assert(lock_.owned());
  thread_.store(EndpointLock::current_thread(), std::memory_order_relaxed);
}

void Progression::handler_leave() {
  assert(in_own_handler());
  thread_.store(0, std::memory_order_relaxed);
  ends_.fetch_add(1, std::memory_order_relaxed);
  if (waiters_ > 0) futex_wake(ends_, INT_MAX);
}

void Progression::handler_wait() {
  assert(lock_.owned());
  while (in_handler() && !in_own_handler()) {
    const std::uint32_t ends = ends_.load(std::memory_order_relaxed);
    waiters_++;
    const unsigned depth = lock_.release();
    futex_wait(ends_, ends, kNever);
    lock_.retake(depth);
    waiters_--;
  }
}

}  // namespace omx::runtime
