// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "wire/packets.h"

namespace omx::link {

namespace {

constexpr unsigned kMappedBits = 96;
constexpr NicId kNicPrefix = 0x0A55;  // locally administered, unicast
constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

template <std::size_t N>
unsigned ones(const std::uint8_t (&bytes)[N]) {
  unsigned count = 0;
  for (const std::uint8_t byte : bytes) count += static_cast<unsigned>(std::popcount(byte));
  return count;
}

bool link_local(const std::array<std::uint8_t, 16>& ip) {
  return ip[0] == 0xFE && (ip[1] & 0xC0) == 0x80;
}

InterfaceAddress from_ipv4(const sockaddr* address, const sockaddr* mask) {
  InterfaceAddress out;
  std::copy(kMapped.begin(), kMapped.end(), out.ip.begin());
  std::memcpy(&out.ip[12], &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, 4);
  std::uint8_t bytes[4];
  std::memcpy(bytes, &reinterpret_cast<const sockaddr_in*>(mask)->sin_addr, sizeof bytes);
  out.network_bits = kMappedBits + ones(bytes);
  return out;
}

InterfaceAddress from_ipv6(const sockaddr* address, const sockaddr* mask) {
  InterfaceAddress out;
  std::memcpy(out.ip.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, out.ip.size());
  out.network_bits = ones(reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr.s6_addr);
  return out;
}

int preference(const InterfaceAddress& address) {
  return is_ipv4(address.ip) ? 0 : link_local(address.ip) ? 2 : 1;
}

}  // namespace

bool is_ipv4(const std::array<std::uint8_t, 16>& ip) {
  return std::equal(kMapped.begin(), kMapped.end(), ip.begin());
}

NicId udp_nic(const std::array<std::uint8_t, 16>& ip) {
  if (!is_ipv4(ip)) return 0;
  NicId nic = kNicPrefix;
  for (std::size_t i = kMapped.size(); i < ip.size(); i++) nic = nic << 8 | ip[i];
  return nic;
}

std::optional<std::array<std::uint8_t, 16>> udp_ip(NicId nic) {
  if (nic >> 32 != kNicPrefix) return std::nullopt;
  std::array<std::uint8_t, 16> ip{};
  std::copy(kMapped.begin(), kMapped.end(), ip.begin());
  for (std::size_t i = 0; i < 4; i++) ip[12 + i] = static_cast<std::uint8_t>(nic >> (24 - 8 * i));
  return ip;
}

std::uint32_t udp_frame(std::uint32_t mtu, const InterfaceAddress& own) {
  const std::uint32_t headers = (is_ipv4(own.ip) ? 20 : 40) + 8;
  return mtu > headers ? std::min<std::uint32_t>(mtu - headers, wire::kTrainBytes) : 0;
}

std::uint32_t udp_mtu(std::uint32_t mtu, const InterfaceAddress& own) {
  const std::uint32_t frame = udp_frame(mtu, own);
  return frame > wire::kEthernetHeader ? frame - wire::kEthernetHeader : 0;
}

std::optional<InterfaceAddress> interface_address(const std::string& interface, std::uint32_t ifindex) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  std::optional<InterfaceAddress> best;
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (!entry->ifa_addr || !entry->ifa_netmask || interface != entry->ifa_name) continue;
    InterfaceAddress found;
    if (entry->ifa_addr->sa_family == AF_INET)
      found = from_ipv4(entry->ifa_addr, entry->ifa_netmask);
    else if (entry->ifa_addr->sa_family == AF_INET6)
      found = from_ipv6(entry->ifa_addr, entry->ifa_netmask);
    else
      continue;
    found.ifindex = ifindex;
    if (!best || preference(found) < preference(*best)) best = found;
  }
  return best;
}

wire::LaneAddress lane_address(const SocketAddress& from) {
  wire::LaneAddress out;
  if (from.storage.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(from.storage);
    std::copy(kMapped.begin(), kMapped.end(), out.ip.begin());
    std::memcpy(&out.ip[12], &address.sin_addr, 4);
    out.port = ntohs(address.sin_port);
  } else if (from.storage.ss_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(from.storage);
    std::memcpy(out.ip.data(), &address.sin6_addr, out.ip.size());
    out.port = ntohs(address.sin6_port);
  }
  return out;
}

SocketAddress socket_address(const std::array<std::uint8_t, 16>& ip, std::uint16_t port,
                             std::uint32_t ifindex) {
  SocketAddress out;
  if (is_ipv4(ip)) {
    auto& address = reinterpret_cast<sockaddr_in&>(out.storage);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    std::memcpy(&address.sin_addr, &ip[12], 4);
    out.length = sizeof address;
  } else {
    auto& address = reinterpret_cast<sockaddr_in6&>(out.storage);
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    std::memcpy(&address.sin6_addr, ip.data(), ip.size());
    if (link_local(ip)) address.sin6_scope_id = ifindex;
    out.length = sizeof address;
  }
  return out;
}

}  // namespace omx::link
