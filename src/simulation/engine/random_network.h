// SPDX-License-Identifier: BSD-3-Clause
// A randomly drawn network: the number of hosts, the options of their engines, and the faults. All from the
// seed.
#pragma once

#include <vector>

#include "simulation/engine/world.h"

namespace omx::simulation {

struct RandomNetwork {
  WorldOptions world;
  std::vector<HostOptions> hosts;
  FaultPlan faults;
};

RandomNetwork random_network(std::uint64_t seed, std::uint32_t key);

}  // namespace omx::simulation
