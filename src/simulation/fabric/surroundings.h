// SPDX-License-Identifier: BSD-3-Clause
// The part of the fabric that hosts and TCP flows both use.
#pragma once

#include <cstdint>

#include "simulation/engine/events.h"
#include "simulation/fabric/options.h"
#include "simulation/fabric/packets.h"

namespace omx::simulation::fabric {

class Surroundings {
 public:
  virtual const FabricOptions& options() const = 0;
  virtual TimeNs now() const = 0;
  virtual PacketPool& packets() = 0;
  virtual void schedule(TimeNs at, EventTarget& target, std::uint64_t argument) = 0;
  virtual void transmit(std::uint32_t packet) = 0;
  virtual std::uint64_t nic_queued(std::uint32_t host) const = 0;
  virtual TimeNs nic_time(std::uint64_t bytes) const = 0;

 protected:
  ~Surroundings() = default;
};

}  // namespace omx::simulation::fabric
