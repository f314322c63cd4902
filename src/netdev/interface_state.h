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

// What became of the interface that a link was opened on.
enum class Outage : std::uint8_t {
  none,
  down,  // administratively
  no_carrier,
  gone,        // removed, unplugged, or in another network namespace
  replaced,    // another one has its name, which is not the one that peers know
  returned,    // it is back under its name and as peers know it, but with another index: see
               // InterfaceWatch::follow()
  readdressed  // it has another MAC address than peers know
};

// Whether sockets that were bound to it hear nothing more.
inline bool is_lost(Outage outage) {
  return outage == Outage::gone || outage == Outage::replaced || outage == Outage::returned;
}

// Any socket will do as `fd`. Return 0 or errno (ENODEV: gone). By index finds an interface that was renamed.
int interface_state_by_name(int fd, const std::string& name, InterfaceState& state);
int interface_state_by_index(int fd, std::uint32_t index, InterfaceState& state);

// The state of now of an interface that was opened by `name` and had the index `index`. Where it is gone,
// `now` is down, or what has its name now. `removed`: the caller knows that it was removed, so that what has
// the index is another one. `known`: the MAC address that peers know; 0: they know it by another address.
Outage interface_look(int fd, const std::string& name, std::uint32_t index, bool removed, NicId known,
                      InterfaceState& now);

}  // namespace omx::link
