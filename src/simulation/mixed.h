// SPDX-License-Identifier: BSD-3-Clause
// The mixed workload: everything an application can ask for, at random, on a network that loses, repeats,
// holds back and damages frames. Nobody dies, so the outcome is known exactly: every message is delivered
// once, whole, to the receive that MX matching says, each request ends once with the right status, and in the
// end nothing is left over. Everything, the network's and the engines' options included, follows from the
// seed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "simulation/events.h"

namespace omx::simulation {

struct MixedOptions {
  std::uint64_t seed = 1;
  std::uint32_t operations = 600;
  std::FILE* trace = nullptr;
};

// What a run found and did.
struct MixedResult {
  std::string failure;  // empty: none
  std::uint64_t digest = 0;
  std::uint64_t messages = 0, bytes = 0, frames = 0, lost = 0;
  TimeNs time = 0;
  bool ok() const { return failure.empty(); }
};

MixedResult mixed_run(const MixedOptions& options);

}  // namespace omx::simulation
