// SPDX-License-Identifier: BSD-3-Clause
// The Ethernet interfaces of this host, as boards see them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/mac.h"

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
  bool virtual_kind = false;  // no hardware of its own behind it: bridge, tun, veth, bond, loopback ...
  std::string kind;           // "physical", "veth", "bridge", "tun", "loopback", ...; "virtual" when unknown
  std::string master;         // the bridge or bond it is a port of; empty when none
  std::string driver;         // empty when unknown
  std::int64_t speed_mbps = -1;  // -1 unknown
  int numa_node = -1;
  std::string pci_address;  // empty when none
};

// All interfaces of this network namespace, ordered by ifindex. `sysfs` is "/sys" except in tests with a
// recorded tree. The live list comes from the kernel by netlink, as /sys may still show another namespace.
std::vector<Interface> interfaces_list(const std::string& sysfs = "/sys");

// The first of them, for an error text, which has an end (mx-api.md 5).
std::string interfaces_named(const std::vector<Interface>& all);

struct Choice {
  Interface interface;
  bool taken = false;
  std::string reason;  // why it is a board or not, for omx info
};

// Which interfaces become boards, and in which order. `wanted` is OMX_INTERFACES: a comma-separated list of
// names gives the boards in that order (a named interface is taken even when it is down); "all" takes
// everything Ethernet; empty takes every up Ethernet interface that is not a bridge, docker, tun or loopback,
// nor a port of a bridge or bond, those with carrier first. A veth or macvlan is taken when the host has no
// interface of its own that is up: that is a container. Interfaces that are not taken follow in the list,
// with the reason. A wanted name that does not exist is a Failure that names `variable`, which holds it, and
// the interfaces there are.
Result<std::vector<Choice>> interfaces_choose(const std::vector<Interface>& all, const std::string& wanted,
                                              const char* variable = "OMX_INTERFACES");

}  // namespace omx::link
