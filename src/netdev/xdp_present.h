// SPDX-License-Identifier: BSD-3-Clause
// The XDP programs of an interface, which netlink reports to every user.
#pragma once

#include <cstdint>

namespace omx::link {

// The ids of an interface's programs; 0: none.
struct XdpPresent {
  std::uint32_t native = 0, generic = 0, offloaded = 0;
  bool any() const { return native || generic || offloaded; }
};
// Reads the ids of an interface's programs. Returns 0 or errno.
int xdp_present(std::uint32_t index, XdpPresent& present);

}  // namespace omx::link
