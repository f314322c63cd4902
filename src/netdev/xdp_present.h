// SPDX-License-Identifier: BSD-3-Clause
// Which XDP programs an interface has, told by netlink to anybody.
#pragma once

#include <cstdint>

namespace omx::link {

// Programs of an interface by id; 0: none.
struct XdpPresent {
  std::uint32_t native = 0, generic = 0, offloaded = 0;
  bool any() const { return native || generic || offloaded; }
};
// Returns 0 or errno.
int xdp_present(std::uint32_t index, XdpPresent& present);

}  // namespace omx::link
