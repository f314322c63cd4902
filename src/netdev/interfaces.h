// SPDX-License-Identifier: BSD-3-Clause
// The Ethernet interfaces of this host.
#pragma once

#include <string>
#include <vector>

#include "netdev/interface.h"

namespace omx::link {

// Returns all interfaces of this network namespace, ordered by ifindex. `sysfs` is "/sys" except in tests
// with a recorded tree. The live list comes from the kernel by netlink, because /sys may still show another
// namespace.
std::vector<Interface> interfaces_list(const std::string& sysfs = "/sys");

// Returns the first names of the list. It is short, because error texts have a limited length
// (docs/spec/mx-api.md 5).
std::string interfaces_named(const std::vector<Interface>& all);

}  // namespace omx::link
