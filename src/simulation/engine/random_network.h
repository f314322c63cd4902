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
// Makes all ports of the switch, or one, slow and their queues short. Others may send there, too. Everything
// else stays as the seed made it, but half of the networks lose no frames elsewhere.
void random_congestion(std::uint64_t seed, RandomNetwork& network);

}  // namespace omx::simulation
