// SPDX-License-Identifier: BSD-3-Clause
// Finds processors that share a cache, by hwloc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/expected.h"

namespace omx::steering {

class Topology {
 public:
  virtual ~Topology() = default;
  // Returns the processors that share a cache with this one, without itself, best first. Other cores come
  // before further threads of a core, and smaller caches before larger ones. Not thread-safe.
  virtual std::vector<int> beside(int cpu) const = 0;
};

// Loads the topology of this host, or of a description in hwloc's synthetic form ("pack:2 l3:1 core:4 pu:2")
// for tests. This takes milliseconds, or longer on large hosts. The first call loads libhwloc, because
// programs that do not bind do not need it. The error is the end of a sentence that gives the reason.
Expected<std::unique_ptr<Topology>, std::string> topology_load(const std::string& synthetic = "");

}  // namespace omx::steering
