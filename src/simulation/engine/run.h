// SPDX-License-Identifier: BSD-3-Clause
// Options and result of a run of a workload. Everything follows from the seed, even the options of network
// and engines.
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
  std::string failure;  // empty: no failure
  std::uint64_t digest = 0;
  std::uint64_t messages = 0, bytes = 0, frames = 0, lost = 0;
  TimeNs time = 0;
  bool ok() const { return failure.empty(); }
};
// Returns the result of a run that has ended in this world.
RunResult run_result(const World& world, const std::string& failure, std::uint64_t messages,
                     std::uint64_t bytes);

}  // namespace omx::simulation
