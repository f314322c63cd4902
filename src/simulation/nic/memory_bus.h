// SPDX-License-Identifier: BSD-3-Clause
// The memory bus that all cores, the copy engine and the NIC of a host share. Transfers that want more than
// it carries get parts in proportion to what they want. A transfer's part is decided when it begins.
#pragma once

#include <algorithm>
#include <vector>

#include "simulation/nic/parameters.h"
#include "simulation/nic/scheduler.h"

namespace omx::simulation::nic {

class MemoryBus {
 public:
  MemoryBus(Scheduler& scheduler, const Parameters& parameters)
      : scheduler_(scheduler), parameters_(parameters) {}

  // Carries a transfer that begins at `start`, wants `rate` bytes per second, and would take `ns` alone.
  // Returns the time that it takes.
  double carry(double rate, double ns, TimeNs start) {
    const double wanted = rate + wanted_at(start);
    const double takes = ns * std::max(1.0, wanted / parameters_.bus_rate);
    transfers_.push_back({start, start + static_cast<TimeNs>(takes), rate});
    return takes;
  }
  // Carries a transfer of a device that is never delayed: the NIC's.
  void carry_first(double rate, double ns) {
    ended_forget();
    transfers_.push_back({scheduler_.now(), scheduler_.now() + static_cast<TimeNs>(ns), rate});
  }
  // Carries a copy of a processor, which reads and writes each byte. `ns` is the time that it would take
  // alone.
  double copy(double bytes, double ns) {
    return ns <= 0 ? ns : carry(2 * bytes * 1e9 / ns, ns, scheduler_.now());
  }

 private:
  struct Transfer {
    TimeNs start, end;
    double rate;
  };
  void ended_forget() {
    const TimeNs now = scheduler_.now();
    transfers_.erase(std::remove_if(transfers_.begin(), transfers_.end(),
                                    [now](const Transfer& t) { return t.end <= now; }),
                     transfers_.end());
  }
  double wanted_at(TimeNs time) {
    ended_forget();
    double rate = 0;
    for (const Transfer& t : transfers_)
      if (t.start <= time && t.end > time) rate += t.rate;
    return rate;
  }

  Scheduler& scheduler_;
  const Parameters& parameters_;
  std::vector<Transfer> transfers_;
};

}  // namespace omx::simulation::nic
