// SPDX-License-Identifier: BSD-3-Clause
// The message about an interface that fails under an open endpoint.
#pragma once

#include <string>

#include "netdev/interface_state.h"

namespace omx::runtime {

struct OutageFacts {
  std::string interface;
  link::Outage outage = link::Outage::none;
  bool up = false;           // the link receives
  NicId known = 0;           // the MAC address by which peers know it; by UDP 0
  std::string ip;            // by UDP: the address by which peers know it
  link::InterfaceState now;  // the interface that has its name now
  bool follows = true;       // the link goes on when the interface is back
  std::string obstacle;      // why the link stays down though the interface is back
};

// Returns one sentence for the user, with the remedy.
std::string outage_text(const OutageFacts& facts);

}  // namespace omx::runtime
