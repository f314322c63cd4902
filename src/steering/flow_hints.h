// SPDX-License-Identifier: BSD-3-Clause
// Which receive queue the datagrams of an endpoint come through, where the NIC has flow rules for them: those
// of omx steer --flows, or anybody's. To read them takes no rights.
#pragma once

#include <string>
#include <vector>

#include "steering/flow_rule.h"

namespace omx::steering {

// Endpoint e has port `first` + e.
struct DatagramPorts {
  std::uint16_t first = 0;
  bool ipv4 = true;
  bool ipv6 = false;
};

// Queues by endpoint, -1 where no rule says; empty where none says anything.
std::vector<int> flow_hints(const FlowTable& table, const DatagramPorts& ports);
std::vector<int> flow_hints_read(const std::string& interface, const DatagramPorts& ports);

}  // namespace omx::steering
