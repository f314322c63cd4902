// SPDX-License-Identifier: BSD-3-Clause
// The state of a link's interface, which the link reads repeatedly while it runs.
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

// The ways in which the interface of an open link may be out of order.
enum class Outage : std::uint8_t {
  none,
  down,  // administratively
  no_carrier,
  gone,         // removed, unplugged, or in another network namespace
  replaced,     // another interface has its name, and not the MAC address that peers know
  returned,     // it has its name and the MAC address that peers know, but another index: see
                // InterfaceWatch::follow()
  readdressed,  // it has another MAC address than peers know
  withdrawn     // the sockets were granted by another process, which has revoked them
};

// Returns whether sockets that were bound to the interface receive nothing more.
inline bool is_lost(Outage outage) {
  return outage == Outage::gone || outage == Outage::replaced || outage == Outage::returned ||
         outage == Outage::withdrawn;
}

// Read the state of an interface; any socket will do as `fd`. Return 0 or errno (ENODEV: gone). A search by
// index also finds a renamed interface.
int interface_state_by_name(int fd, const std::string& name, InterfaceState& state);
int interface_state_by_name(const std::string& name, InterfaceState& state);  // by a socket of its own
int interface_state_by_index(int fd, std::uint32_t index, InterfaceState& state);

// Reads the current state of an interface that was opened by `name` and had the index `index`. If it is
// gone, `now` is down, or the interface that has its name now. `removed` says that the caller knows of its
// removal, so that another interface has the index. `known` is the MAC address that peers know, or 0 when
// they know another kind of address.
Outage interface_look(int fd, const std::string& name, std::uint32_t index, bool removed, NicId known,
                      InterfaceState& now);

}  // namespace omx::link
