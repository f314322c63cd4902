// SPDX-License-Identifier: BSD-3-Clause
// What a run of a workload is told and what it reports. Everything, the network's and the engines' options
// included, follows from the seed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "simulation/engine/events.h"

namespace omx::simulation {

class World;

struct RunOptions {
  std::uint64_t seed = 1;
  std::uint32_t operations = 600;
  std::FILE* trace = nullptr;
};

struct RunResult {
  std::string failure;  // empty: none
  std::uint64_t digest = 0;
  std::uint64_t messages = 0, bytes = 0, frames = 0, lost = 0;
  TimeNs time = 0;
  bool ok() const { return failure.empty(); }
};
// Returns what a run reports that has ended in this world.
RunResult run_result(const World& world, const std::string& failure, std::uint64_t messages,
                     std::uint64_t bytes);

}  // namespace omx::simulation
