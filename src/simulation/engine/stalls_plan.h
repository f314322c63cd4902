// SPDX-License-Identifier: BSD-3-Clause
// The network of a run of stalls and its faults. All from the seed.
#pragma once

#include <vector>

#include "simulation/engine/world.h"

namespace omx::simulation {

struct Outage {
  enum class Kind { stall, stall_both, cut, one_way, restart } kind = Kind::stall;
  std::uint32_t host = 0, other = 0;
  std::uint32_t step = 0;  // the application's step at which it begins; 0: before it connects
  TimeNs duration = 0;
};

struct StallsPlan {
  WorldOptions world;
  std::vector<HostOptions> hosts;
  FaultPlan faults;
  TimeNs timeout = 0;  // ReliabilityConfig::peer_timeout of all hosts
  TimeNs talk = 0;     // see Silence
  std::vector<Outage> outages;
};

// Draws a plan. `steps` is the number of the application's steps.
StallsPlan stalls_plan(std::uint64_t seed, std::uint32_t key, std::uint32_t steps);

}  // namespace omx::simulation
