// SPDX-License-Identifier: BSD-3-Clause
// IP addresses of interfaces, and the addresses of lanes as sockets want them.
#pragma once

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "wire/lane.h"
#include "wire/udp_nic.h"

namespace omx::link {

using wire::Ip;
using wire::IpFamily;
using wire::is_ipv4;
using wire::udp_nic;

// An address by which the interface's own network reaches it.
struct InterfaceAddress {
  Ip ip{};
  unsigned network_bits = 0;  // of the 128
  std::uint32_t ifindex = 0;
};

// nullopt: the entry is no address of IP. Leaves the ifindex open.
std::optional<InterfaceAddress> interface_address_of(const ifaddrs& entry);

// What it has of the family, or IPv4 before IPv6. Of IPv6 the first of: lasting, temporary (who watches the
// network shall not recognise the host) or about to expire, of the link only; among equals the lowest, so
// that all processes have the same. Those that the kernel still tries to find elsewhere are none.
std::optional<InterfaceAddress> interface_address(const std::string& interface, std::uint32_t ifindex,
                                                  IpFamily family = IpFamily::any);

// The largest frame, Ethernet header included, in a datagram that is not fragmented; and the MTU of an
// Ethernet that would carry it.
std::uint32_t udp_frame(std::uint32_t mtu, const InterfaceAddress& own);
std::uint32_t udp_mtu(std::uint32_t mtu, const InterfaceAddress& own);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
// Of such an address; its frame size is not known.
wire::LaneAddress lane_address(const SocketAddress& address);
// `ifindex` says which network a link-local address, or a multicast group, belongs to.
SocketAddress socket_address(const Ip& ip, std::uint16_t port, std::uint32_t ifindex);
std::string ip_text(const Ip& ip);

}  // namespace omx::link
