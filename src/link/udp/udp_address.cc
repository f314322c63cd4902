// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_addr.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "wire/packets.h"

namespace omx::link {

namespace {

constexpr unsigned kMappedBits = 96;
constexpr std::uint8_t kMulticast = 0xFF;
constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

template <std::size_t N>
unsigned ones(const std::uint8_t (&bytes)[N]) {
  unsigned count = 0;
  for (const std::uint8_t byte : bytes) count += static_cast<unsigned>(std::popcount(byte));
  return count;
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

// Returns the flags of an IPv6 address, which getifaddrs() does not give. Returns 0 where /proc is missing.
unsigned ipv6_flags(const Ip& ip, const std::string& interface) {
  std::string wanted;
  for (const std::uint8_t byte : ip) wanted += fmt::format("{:02x}", byte);
  std::ifstream list("/proc/net/if_inet6");
  std::string address, index, bits, scope, flags, name;
  while (list >> address >> index >> bits >> scope >> flags >> name) {
    if (address == wanted && name == interface)
      return static_cast<unsigned>(std::strtoul(flags.c_str(), nullptr, 16));
  }
  return 0;
}

IpFamily ip_family(const Ip& ip) {
  return is_ipv4(ip) ? IpFamily::v4 : IpFamily::v6;
}

// Returns how good an address is; lower is better. Returns nullopt when the address is not usable.
std::optional<int> rank(const InterfaceAddress& address, const std::string& interface) {
  if (is_ipv4(address.ip)) return 0;
  const unsigned flags = ipv6_flags(address.ip, interface);
  const bool tried = (flags & IFA_F_TENTATIVE) && !(flags & IFA_F_OPTIMISTIC);
  if (tried || (flags & IFA_F_DADFAILED)) return std::nullopt;
  if (wire::is_link_local(address.ip)) return 3;
  return flags & (IFA_F_TEMPORARY | IFA_F_DEPRECATED) ? 2 : 1;
}

}  // namespace

std::uint32_t udp_frame(std::uint32_t mtu, const InterfaceAddress& own) {
  const std::uint32_t headers = (is_ipv4(own.ip) ? 20 : 40) + 8;
  return mtu > headers ? std::min<std::uint32_t>(mtu - headers, wire::kGsoBatchBytes) : 0;
}

std::uint32_t udp_mtu(std::uint32_t mtu, const InterfaceAddress& own) {
  const std::uint32_t frame = udp_frame(mtu, own);
  return frame > wire::kEthernetHeader ? frame - wire::kEthernetHeader : 0;
}

std::optional<InterfaceAddress> interface_address_of(const ifaddrs& entry) {
  if (!entry.ifa_addr || !entry.ifa_netmask) return std::nullopt;
  if (entry.ifa_addr->sa_family == AF_INET) return from_ipv4(entry.ifa_addr, entry.ifa_netmask);
  if (entry.ifa_addr->sa_family == AF_INET6) return from_ipv6(entry.ifa_addr, entry.ifa_netmask);
  return std::nullopt;
}

std::optional<InterfaceAddress> interface_address(const std::string& interface, std::uint32_t ifindex,
                                                  IpFamily family) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  std::optional<InterfaceAddress> best;
  int best_rank = 0;
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (interface != entry->ifa_name) continue;
    auto found = interface_address_of(*entry);
    if (!found || (family != IpFamily::any && family != ip_family(found->ip))) continue;
    found->ifindex = ifindex;
    const auto found_rank = rank(*found, interface);
    if (!found_rank) continue;
    // The first IPv4 address is the kernel's primary one.
    const bool better = !best || *found_rank < best_rank ||
                        (*found_rank == best_rank && *found_rank > 0 && found->ip < best->ip);
    if (!better) continue;
    best = found;
    best_rank = *found_rank;
  }
  return best;
}

wire::BulkAddress bulk_address(const SocketAddress& from) {
  wire::BulkAddress out;
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

SocketAddress socket_address(const Ip& ip, std::uint16_t port, std::uint32_t ifindex) {
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
    if (wire::is_link_local(ip) || ip[0] == kMulticast) address.sin6_scope_id = ifindex;
    out.length = sizeof address;
  }
  return out;
}

std::string ip_text(const Ip& ip) {
  char text[INET6_ADDRSTRLEN] = "";
  if (is_ipv4(ip))
    ::inet_ntop(AF_INET, &ip[12], text, sizeof text);
  else
    ::inet_ntop(AF_INET6, ip.data(), text, sizeof text);
  return text;
}

}  // namespace omx::link
