// SPDX-License-Identifier: BSD-3-Clause
// Traffic of others that share a port of the switch. It comes and goes, and is computed as a fluid whenever a
// frame of ours comes, so that it needs no events.
#pragma once

#include "base/random.h"
#include "simulation/engine/port.h"

namespace omx::simulation {

class CrossTraffic {
 public:
  explicit CrossTraffic(std::uint64_t seed) : random_(seed) {}

  // Adds to the port what the others sent since the last call.
  void advance(TimeNs now, Port& port);

 private:
  void phase_choose(const Port& port);

  Random random_;
  TimeNs at_ = 0;         // up to here the port has what the others sent
  TimeNs phase_end_ = 0;  // until then the others send ...
  unsigned percent_ = 0;  // ... such a part of the rate, even more than all of it ...
  TimeNs most_ = 0;       // ... while less than this time's bytes wait
};

}  // namespace omx::simulation
