// SPDX-License-Identifier: BSD-3-Clause
// The network of a mixed run: how many hosts, what their engines are told, what the cables do. All from the
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
