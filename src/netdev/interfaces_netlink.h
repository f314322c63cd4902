// SPDX-License-Identifier: BSD-3-Clause
// Interfaces as the kernel reports them.
#pragma once

#include <vector>

#include "base/netlink.h"
#include "netdev/interface.h"

namespace omx::link {

// Reads interfaces by rtnetlink and ethtool: names, addresses, MTU, flags, kind, master, driver, PCI
// address. Returns false when netlink cannot be used (a sandbox).
bool interfaces_read_netlink(std::vector<Interface>& list);
bool interfaces_read_netlink(Netlink& netlink, std::vector<Interface>& list);

}  // namespace omx::link
