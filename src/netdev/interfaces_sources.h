// SPDX-License-Identifier: BSD-3-Clause
// The two sources of interfaces_list.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/netlink.h"
#include "netdev/interfaces.h"

namespace omx::link {

// What the kernel says by rtnetlink and ethtool: names, addresses, MTU, flags, kind, master, driver, PCI
// address. False when netlink cannot be used (a sandbox).
bool interfaces_read_netlink(std::vector<Interface>& list);
bool interfaces_read_netlink(Netlink& netlink, std::vector<Interface>& list);

// The interfaces (by index) that a default route leads to. Empty too where it cannot be told.
std::set<std::uint32_t> default_routes_read(Netlink& netlink);

// Everything, from SYSFS/class/net.
std::vector<Interface> interfaces_read_sysfs(const std::string& sysfs);

}  // namespace omx::link
