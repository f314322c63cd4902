// SPDX-License-Identifier: BSD-3-Clause
// An Ethernet interface of this host, as boards see it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/mac.h"
#include "wire/udp_nic.h"

namespace omx::link {

struct Interface {
  std::string name;
  std::uint32_t index = 0;  // kernel ifindex
  NicId nic = 0;
  std::uint32_t mtu = 0;
  bool up = false;       // administratively up
  bool running = false;  // carrier
  bool loopback = false;
  bool ethernet = false;      // ARPHRD_ETHER
  bool virtual_kind = false;  // no hardware of its own: bridge, tun, veth, bond, loopback ...
  std::string kind;           // "physical", "veth", "bridge", "tun", "loopback", ...; "virtual" when unknown
  std::string master;  // e.g. a bridge, bond or "passthru" macvlan that gets its frames; empty when none
  std::string driver;  // empty when unknown
  std::int64_t speed_mbps = -1;  // -1 unknown
  int numa_node = -1;
  std::string pci_address;  // empty when none
  std::vector<wire::Ip> addresses;
  bool shares_network = false;  // one of its addresses is in a network with room for other hosts
  bool default_route = false;   // a default route leads here
};

}  // namespace omx::link
