// SPDX-License-Identifier: BSD-3-Clause
// Which processors share a cache with which; hwloc knows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/expected.h"

namespace omx::steering {

class Topology {
 public:
  virtual ~Topology() = default;
  // Processors that share a cache with this one, best first, without itself: other cores before further
  // threads of a core, and the smallest cache first. Not thread-safe.
  virtual std::vector<int> beside(int cpu) const = 0;
};

// Of this host; or of a description in hwloc's synthetic form ("pack:2 l3:1 core:4 pu:2"), for tests. Takes
// milliseconds, and longer on large hosts. libhwloc is loaded when this is first called, as programs that do
// not bind need it not. The error is a sentence's end that says why there is none.
Expected<std::unique_ptr<Topology>, std::string> topology_load(const std::string& synthetic = "");

}  // namespace omx::steering
