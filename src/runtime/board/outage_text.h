// SPDX-License-Identifier: BSD-3-Clause
// What is said of an interface that fails under an open endpoint.
#pragma once

#include <string>

#include "netdev/interface_state.h"

namespace omx::runtime {

struct OutageFacts {
  std::string interface;
  link::Outage outage = link::Outage::none;
  bool up = false;           // the link receives
  NicId known = 0;           // the MAC address by which peers know it; by UDP 0
  std::string ip;            // by UDP: the address by which they do
  link::InterfaceState now;  // of what has its name now
  bool follows = true;       // the link goes on when the interface is back
  std::string obstacle;      // of one that is back: why it does not go on all the same
};

// One sentence for people, with the remedy.
std::string outage_text(const OutageFacts& facts);

}  // namespace omx::runtime
