// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/run.h"

#include "simulation/engine/world.h"

namespace omx::simulation {

RunResult run_result(const World& world, const std::string& failure, std::uint64_t messages,
                     std::uint64_t bytes) {
  RunResult result;
  result.failure = failure;
  result.digest = world.digest();
  result.messages = messages;
  result.bytes = bytes;
  const World::Totals totals = world.totals();
  result.frames = totals.frames;
  result.lost = totals.lost + totals.dropped;
  result.time = world.now();
  return result;
}

}  // namespace omx::simulation
