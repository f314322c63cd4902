// SPDX-License-Identifier: BSD-3-Clause
// IP addresses of interfaces, and the addresses of lanes as sockets want them.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/mac.h"
#include "wire/lane.h"

namespace omx::link {

// An address by which the interface's own network reaches it.
struct InterfaceAddress {
  std::array<std::uint8_t, 16> ip{};  // as LaneAddress has it
  unsigned network_bits = 0;          // of the 128
  std::uint32_t ifindex = 0;
};

// IPv4 if it has one, else IPv6, link-local ones last.
std::optional<InterfaceAddress> interface_address(const std::string& interface, std::uint32_t ifindex);

bool is_ipv4(const std::array<std::uint8_t, 16>& ip);
// The largest frame, Ethernet header included, in a datagram that is not fragmented; and the MTU of an
// Ethernet that would carry it.
std::uint32_t udp_frame(std::uint32_t mtu, const InterfaceAddress& own);
std::uint32_t udp_mtu(std::uint32_t mtu, const InterfaceAddress& own);

// The NIC id of a host that is reached by UDP: a locally administered prefix, and its IPv4 address. 0 for
// IPv6, whose addresses do not fit.
NicId udp_nic(const std::array<std::uint8_t, 16>& ip);
// The address in such an id; none for those of Ethernet.
std::optional<std::array<std::uint8_t, 16>> udp_ip(NicId nic);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
// Of such an address; its frame size is not known.
wire::LaneAddress lane_address(const SocketAddress& address);
// `ifindex` says which network a link-local address belongs to.
SocketAddress socket_address(const std::array<std::uint8_t, 16>& ip, std::uint16_t port,
                             std::uint32_t ifindex);

}  // namespace omx::link
