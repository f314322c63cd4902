// SPDX-License-Identifier: BSD-3-Clause
// The memory of peers that were talked to and are idle.
#pragma once

#include <cstdint>
#include <string>

#include "simulation/fabric/options.h"

namespace omx::simulation::fabric {

// The bytes of one endpoint for each of its peers, tables included, and its number of peers without itself.
struct PeerMemoryStep {
  std::uint32_t peers = 0;
  double bytes = 0;
};

struct PeerMemoryResult {
  std::string failure;                     // empty: no failure
  std::uint64_t object = 0;                // bytes of the object of a peer
  std::uint32_t known = 0;                 // peers before any talk
  PeerMemoryStep connected, small, large;  // after each step, everything idle again
};

// Connects the first host to all others, then exchanges a message of 8 B with each in both directions, then
// one that is pulled.
PeerMemoryResult peer_memory_run(const FabricOptions& options);

}  // namespace omx::simulation::fabric
