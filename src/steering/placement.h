// SPDX-License-Identifier: BSD-3-Clause
// Decides where a thread that opens an endpoint runs. The facts come through an interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/mac.h"
#include "steering/binding_setting.h"
#include "steering/queues.h"

namespace omx::steering {

// The facts that a decision may need, read only when needed. Lists of processors are sorted; an empty list is
// unknown.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // Returns the processors on which the calling thread may run.
  virtual std::vector<int> affinity() = 0;
  // Returns the processors that the thread's control group allows.
  virtual std::vector<int> possible() = 0;
  virtual ReceiveQueues queues() = 0;
  // Works like Topology::beside. Returns nothing if the topology is unknown.
  virtual std::vector<int> beside(int cpu) = 0;
  // Marks a processor as used by this thread. Returns false, and changes nothing, if another thread of
  // Open-MX uses it. A thread marks at most one processor.
  virtual bool take(int cpu) = 0;
};

struct PlacedEndpoint {
  NicId board = 0;  // the interface's own address
  std::uint32_t endpoint = 0;
};

struct Placement {
  std::vector<int> processors;  // to run on; empty: the thread stays where it is
  std::string reason;    // "where interrupt 45 (eth0-TxRx-3) brings its frames", or why the thread stays
  bool refused = false;  // the setting cannot be applied
};

Placement place(const BindingSetting& setting, const PlacedEndpoint& endpoint, Surroundings& surroundings);

}  // namespace omx::steering
