// SPDX-License-Identifier: BSD-3-Clause
// Interfaces as /sys shows them.
#pragma once

#include <string>
#include <vector>

#include "netdev/interface.h"

namespace omx::link {

// Returns all interfaces in SYSFS/class/net.
std::vector<Interface> interfaces_read_sysfs(const std::string& sysfs);

}  // namespace omx::link
