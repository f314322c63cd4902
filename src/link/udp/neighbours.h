// SPDX-License-Identifier: BSD-3-Clause
// The IP networks that this host is in, and the kernel's table of neighbours. The table says which MAC
// address has an IP address.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/mac.h"
#include "base/netlink.h"
#include "link/udp/udp_address.h"

namespace omx::link {

// An IP address of this host, and the interface that has it.
struct HostAddress {
  std::string interface;
  InterfaceAddress address;
  bool loopback = false;  // the interface is the loopback
};
std::vector<HostAddress> host_addresses();

struct Neighbour {
  std::string interface;
  NicId mac = 0;
};
// Returns the neighbours that the table gives for `ip` and that the kernel would use. Returns none where the
// table cannot be read.
std::vector<Neighbour> neighbours_find(Netlink& kernel, const Ip& ip);

// An IP address that the table of neighbours gives for a MAC address.
struct NeighbourAddress {
  Ip ip{};
  std::uint32_t ifindex = 0;
  bool reachable = false;  // the kernel heard of it within the last seconds
};
// Returns the IP address of that family that the table gives for `mac`, IPv4 before IPv6. Returns nullopt
// when the table has none.
std::optional<NeighbourAddress> neighbour_address(Netlink& kernel, NicId mac,
                                                  IpFamily family = IpFamily::any);

// Makes the kernel ask the network behind `from` for `ip` (ARP, NDP). Sends an empty datagram to the discard
// port, which no router forwards (link/udp/on_link.h). The answer appears in the table. Needs no privilege.
// Returns 0 or errno.
int neighbour_ask(const Ip& ip, const HostAddress& from);

// Returns this host's address from which the kernel would send datagrams to `ip`, or nullopt when there is
// no route.
std::optional<Ip> route_source(const Ip& ip);

}  // namespace omx::link
