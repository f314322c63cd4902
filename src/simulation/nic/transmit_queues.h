// SPDX-License-Identifier: BSD-3-Clause
// The queues by which the cores of a host send. A core holds the lock of its queue for a part of the time
// that it needs for a frame, and waits for another core that holds it. Cores share queues in turn: with as
// many queues as cores each has its own, as XPS arranges it.
#pragma once

#include <algorithm>
#include <vector>

#include "simulation/nic/parameters.h"
#include "simulation/nic/scheduler.h"

namespace omx::simulation::nic {

class TransmitQueues {
 public:
  TransmitQueues(Scheduler& scheduler, const Parameters& parameters)
      : scheduler_(scheduler),
        parameters_(parameters),
        free_(static_cast<std::size_t>(std::max(parameters.transmit_queues, 1.0))) {}

  // Takes the core's queue for a frame that needs `ns` of the core, with the lock at the end. Returns the
  // time with the wait for the lock.
  double take(std::uint32_t core, double ns) {
    const double held = std::min(parameters_.transmit_lock_ns, ns);
    const double now = static_cast<double>(scheduler_.now());
    double& free = free_[core % free_.size()];
    free = std::max(now + ns - held, free) + held;
    return free - now;
  }

 private:
  Scheduler& scheduler_;
  const Parameters& parameters_;
  std::vector<double> free_;  // when the lock of each queue is free
};

}  // namespace omx::simulation::nic
