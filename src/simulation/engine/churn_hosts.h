// SPDX-License-Identifier: BSD-3-Clause
// Events of hosts in the workload churn: they crash, restart, disconnect and pause, and the network splits
// and heals.
#pragma once

#include <cstdint>

#include "simulation/engine/churn_causes.h"

namespace omx::simulation {

class ChurnHosts : public ChurnCauses {
 protected:
  using ChurnCauses::ChurnCauses;

  void disconnect(std::uint32_t host, std::uint32_t to);
  void pause(std::uint32_t host);
  void resume(std::uint32_t host);
  void crash(std::uint32_t host);
  void restart(std::uint32_t host);
  void network_regroup();
  void contact_update();
  void run_for(TimeNs time);
};

}  // namespace omx::simulation
