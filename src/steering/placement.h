// SPDX-License-Identifier: BSD-3-Clause
// Decides where the thread runs that opens an endpoint. A function of facts, which come through an interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/mac.h"
#include "steering/binding_setting.h"
#include "steering/queues.h"

namespace omx::steering {

// What is asked, and only when it is needed. Lists of processors are sorted; empty: unknown.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // Where the calling thread may run.
  virtual std::vector<int> affinity() = 0;
  // Where its control group would let it run.
  virtual std::vector<int> possible() = 0;
  virtual ReceiveQueues queues() = 0;
  // As Topology::beside; empty when it is not known.
  virtual std::vector<int> beside(int cpu) = 0;
  // Makes this processor known as used by this thread; false when another thread of Open-MX has it, and
  // nothing is changed. At most one is taken.
  virtual bool take(int cpu) = 0;
};

struct PlacedEndpoint {
  NicId board = 0;  // the interface's own address
  std::uint32_t endpoint = 0;
};

struct Placement {
  std::vector<int> processors;  // to run on; empty: stay
  std::string reason;           // "where interrupt 45 (eth0-TxRx-3) brings its frames", or why it stays
  bool refused = false;         // what the setting asks for cannot be done
};

Placement place(const BindingSetting& setting, const PlacedEndpoint& endpoint, Surroundings& surroundings);

}  // namespace omx::steering
