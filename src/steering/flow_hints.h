// SPDX-License-Identifier: BSD-3-Clause
// The receive queues of an endpoint's datagrams, where the NIC has flow rules for them. The rules may come
// from omx steer --flows or from the administrator. Reading them needs no privileges.
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

// Returns the queues by endpoint, -1 where no rule gives one. The list is empty if no rule concerns these
// ports.
std::vector<int> flow_hints(const FlowTable& table, const DatagramPorts& ports);
std::vector<int> flow_hints_read(const std::string& interface, const DatagramPorts& ports);

}  // namespace omx::steering
