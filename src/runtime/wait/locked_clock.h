// SPDX-License-Identifier: BSD-3-Clause
// The lock of an endpoint and the time that its engine is given.
#pragma once

#include "runtime/clock.h"
#include "runtime/wait/endpoint_lock.h"

namespace omx::runtime {

struct LockedClock {
  EndpointLock lock;
  RecentClock clock;
  TimeNs now = 0;  // of the current operation or turn; never goes back

  // Lets another thread have the lock, then reads the clock.
  void give_way() {
    lock.unlock();
    lock.give_way();
    lock.lock();
    now = clock.read();
  }
};

}  // namespace omx::runtime
