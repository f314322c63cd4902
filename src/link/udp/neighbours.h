// SPDX-License-Identifier: BSD-3-Clause
// The IP networks that this host is in, and the kernel's table of neighbours: which MAC address has an IP
// address there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/mac.h"
#include "base/netlink.h"
#include "link/udp/udp_address.h"

namespace omx::link {

// An address of this host, with the interface that has it.
struct HostAddress {
  std::string interface;
  InterfaceAddress address;
  bool loopback = false;  // the interface is
};
std::vector<HostAddress> host_addresses();

struct Neighbour {
  std::string interface;
  NicId mac = 0;
};
// Returns the neighbours that the table gives for `ip` and that the kernel would use; none where it cannot be
// read.
std::vector<Neighbour> neighbours_find(Netlink& kernel, const Ip& ip);

// The other way: the IP address of that family that the table gives for a MAC address, IPv4 before IPv6.
// None: it knows none.
struct NeighbourAddress {
  Ip ip{};
  std::uint32_t ifindex = 0;
  bool reachable = false;  // the kernel heard of it within the last seconds
};
std::optional<NeighbourAddress> neighbour_address(Netlink& kernel, NicId mac,
                                                  IpFamily family = IpFamily::any);

// Lets the kernel ask the network behind `from` for `ip` (ARP, NDP): sends an empty datagram to the
// discard port, which no router forwards (link/udp/on_link.h). The answer appears in the table. Needs no
// privilege. Returns 0 or errno.
int neighbour_ask(const Ip& ip, const HostAddress& from);

// The own address from which the kernel would send datagrams there; nullopt: there is no route.
std::optional<Ip> route_source(const Ip& ip);

}  // namespace omx::link
