// SPDX-License-Identifier: BSD-3-Clause
// The interfaces by which this host reaches everything else.
#pragma once

#include <cstdint>
#include <set>

#include "base/netlink.h"

namespace omx::link {

// Returns the interfaces (by index) that a default route leads to. The set is also empty where the routes
// cannot be read.
std::set<std::uint32_t> default_routes_read(Netlink& netlink);

}  // namespace omx::link
