// SPDX-License-Identifier: BSD-3-Clause
// What an open link needs to know about its interface, read again and again while it runs.
#pragma once

#include <cstdint>
#include <string>

#include "base/mac.h"

namespace omx::link {

struct InterfaceState {
  std::uint32_t index = 0;
  NicId nic = 0;
  std::uint32_t mtu = 0;
  std::uint16_t hardware_type = 0;  // ARPHRD_*
  bool up = false;
  bool running = false;  // carrier
};

// Any socket will do as `fd`. Return 0 or errno (ENODEV: gone). By index finds an interface that was renamed.
int interface_state_by_name(int fd, const std::string& name, InterfaceState& state);
int interface_state_by_index(int fd, std::uint32_t index, InterfaceState& state);

}  // namespace omx::link
