// SPDX-License-Identifier: BSD-3-Clause
// The one queue to send of a host. A core that sends holds its lock for a part of the time, and waits for
// another one that holds it.
#pragma once

#include <algorithm>

#include "simulation/nic/parameters.h"
#include "simulation/nic/scheduler.h"

namespace omx::simulation::nic {

class TransmitQueue {
 public:
  TransmitQueue(Scheduler& scheduler, const Parameters& parameters)
      : scheduler_(scheduler), parameters_(parameters) {}

  // Takes the queue for a frame that needs `ns` of a core, with the lock at the end. Returns the time with
  // the wait for the lock.
  double take(double ns) {
    const double held = std::min(parameters_.transmit_lock_ns, ns);
    const double now = static_cast<double>(scheduler_.now());
    free_ = std::max(now + ns - held, free_) + held;
    return free_ - now;
  }

 private:
  Scheduler& scheduler_;
  const Parameters& parameters_;
  double free_ = 0;  // when the lock is free
};

}  // namespace omx::simulation::nic
