// SPDX-License-Identifier: BSD-3-Clause
// The interface in a private network by which sealed sockets use the NIC. It is a macvlan with an address of
// its own, so all its frames pass the NIC's egress hook.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/expected.h"
#include "base/mac.h"
#include "broker/board_mac.h"
#include "tools/broker/kernel/private_network.h"

namespace omx::broker {

// How frames are shared with the NIC. `apart`: the macvlan has its own address, and other macvlans of the NIC
// do not reach it. `whole`: all frames of the NIC go to the macvlan, and the host has no network by the NIC.
enum class MacvlanMode : std::uint8_t { apart, whole };

struct MacvlanOptions {
  std::string name;         // as the NIC has
  std::uint32_t lower = 0;  // ifindex of the NIC, in the caller's network namespace
  NicId nic = 0;            // its address; in `whole` mode it has the NIC's
  std::uint32_t mtu = 0;
  MacvlanMode mode = MacvlanMode::apart;
};

struct Macvlan {
  std::uint32_t ifindex = 0;  // in the private network
  std::uint32_t lower = 0;
  NicId nic = 0;
  std::uint32_t mtu = 0;
  bool up = false;
  MacvlanMode mode = MacvlanMode::apart;
};

// Makes the macvlan in the private network, without IPv6. It is down.
Result<Macvlan> macvlan_make(const PrivateNetwork& network, const MacvlanOptions& options);
// Returns the macvlan of that name in the private network, or nullopt.
Result<std::optional<Macvlan>> macvlan_find(const PrivateNetwork& network, const std::string& name);
// Takes over the macvlan that another process made, and gives it the MTU that is wanted. Makes it if there is
// none, or if it belongs to another NIC or has another address.
Result<Macvlan> macvlan_adopt(const PrivateNetwork& network, const MacvlanOptions& options);
// Sets the macvlan up, without ARP. Its egress program must be there: a process that has a socket of the
// private network can send by a new macvlan at once. Returns its state.
Result<Macvlan> macvlan_start(const PrivateNetwork& network, const std::string& name);
Result<void> macvlan_set_mtu(const PrivateNetwork& network, const std::string& name, std::uint32_t mtu);
// Removes the macvlan if it is there.
Result<void> macvlan_remove(const PrivateNetwork& network, const std::string& name);

}  // namespace omx::broker
