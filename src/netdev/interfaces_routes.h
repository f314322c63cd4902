// SPDX-License-Identifier: BSD-3-Clause
// By which interfaces this host reaches everything else.
#pragma once

#include <cstdint>
#include <set>

#include "base/netlink.h"

namespace omx::link {

// The interfaces (by index) that a default route leads to. Empty too where it cannot be told.
std::set<std::uint32_t> default_routes_read(Netlink& netlink);

}  // namespace omx::link
