// SPDX-License-Identifier: BSD-3-Clause
// IP addresses of interfaces, and conversions between bulk path addresses and socket addresses.
#pragma once

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "wire/udp_bulk.h"
#include "wire/udp_nic.h"

namespace omx::link {

using wire::Ip;
using wire::IpFamily;
using wire::is_ipv4;
using wire::udp_nic;

// An address by which hosts in the interface's own network reach it.
struct InterfaceAddress {
  Ip ip{};
  unsigned network_bits = 0;  // of the 128
  std::uint32_t ifindex = 0;
};

// Returns the address of an entry of getifaddrs(), with ifindex 0. Returns nullopt when the entry has no IP
// address.
std::optional<InterfaceAddress> interface_address_of(const ifaddrs& entry);

// Returns the interface's address of this family, or by default IPv4 before IPv6. IPv6 addresses are
// preferred in this order: lasting, temporary or about to expire, link-local. A temporary address hides the
// host from observers of the network, so it is not preferred. Among equals the lowest wins, so that all
// processes choose the same. Addresses under duplicate address detection do not count.
std::optional<InterfaceAddress> interface_address(const std::string& interface, std::uint32_t ifindex,
                                                  IpFamily family = IpFamily::any);

// Returns the largest frame, Ethernet header included, that fits a datagram without fragments.
std::uint32_t udp_frame(std::uint32_t mtu, const InterfaceAddress& own);
// Returns the MTU of an Ethernet that would carry such a frame.
std::uint32_t udp_mtu(std::uint32_t mtu, const InterfaceAddress& own);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
// Returns the IP address and port of a socket address. The frame size stays unknown.
wire::BulkAddress bulk_address(const SocketAddress& address);
// Returns the socket address for `ip`. `ifindex` says which network a link-local address or a multicast
// group belongs to.
SocketAddress socket_address(const Ip& ip, std::uint16_t port, std::uint32_t ifindex);
std::string ip_text(const Ip& ip);

}  // namespace omx::link
