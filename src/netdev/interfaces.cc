// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/interfaces.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "netdev/interfaces_netlink.h"
#include "netdev/interfaces_routes.h"
#include "netdev/interfaces_sysfs.h"

namespace omx::link {

namespace {

// Copies facts that only sysfs has, if its entry is the same interface. Without the remount of `ip netns
// exec`, /sys shows the namespace in which it was mounted. There other interfaces may have the same names
// and even indexes.
void add_sysfs_facts(Interface& interface, const std::vector<Interface>& seen) {
  for (const Interface& other : seen) {
    if (other.name != interface.name || other.index != interface.index || other.nic != interface.nic)
      continue;
    interface.speed_mbps = other.speed_mbps;
    interface.numa_node = other.numa_node;
    if (interface.driver.empty()) interface.driver = other.driver;
    if (interface.pci_address.empty()) interface.pci_address = other.pci_address;
  }
}

// Returns whether a network has room for other hosts. Two addresses of an IPv4 or IPv6 network are enough
// for two hosts.
bool is_shared(const sockaddr* mask, const wire::Ip& ip) {
  if (!mask || wire::is_link_local(ip)) return false;
  const bool ipv4 = wire::is_ipv4(ip);
  const auto* last = ipv4 ? reinterpret_cast<const unsigned char*>(
                                &reinterpret_cast<const sockaddr_in*>(mask)->sin_addr.s_addr) +
                                3
                          : &reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr.s6_addr[15];
  return (*last & 1) == 0;
}

void add_addresses(std::vector<Interface>& list) {
  for (Interface& interface : list) interface.addresses.clear();
  ifaddrs* entries = nullptr;
  if (::getifaddrs(&entries) != 0) return;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(entries, ::freeifaddrs);
  for (const ifaddrs* entry = entries; entry; entry = entry->ifa_next) {
    // An IPv4 address may have a label of its own, such as "eth0:1".
    const std::string_view name =
        std::string_view(entry->ifa_name).substr(0, std::strcspn(entry->ifa_name, ":"));
    const auto interface =
        std::find_if(list.begin(), list.end(), [&](const Interface& i) { return i.name == name; });
    if (!entry->ifa_addr || interface == list.end()) continue;
    wire::Ip ip{};
    if (entry->ifa_addr->sa_family == AF_INET6) {
      std::memcpy(ip.data(), &reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr, ip.size());
    } else if (entry->ifa_addr->sa_family == AF_INET) {
      ip[10] = ip[11] = 0xFF;
      std::memcpy(&ip[12], &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr, 4);
    } else {
      continue;
    }
    interface->addresses.push_back(ip);
    if (is_shared(entry->ifa_netmask, ip)) interface->shares_network = true;
  }
}

}  // namespace

std::vector<Interface> interfaces_list(const std::string& sysfs) {
  std::vector<Interface> from_sysfs = interfaces_read_sysfs(sysfs);
  std::vector<Interface> list;
  if (sysfs == "/sys" && interfaces_read_netlink(list)) {
    for (Interface& interface : list) add_sysfs_facts(interface, from_sysfs);
    add_addresses(list);
    Netlink netlink(NETLINK_ROUTE);
    const auto routes = default_routes_read(netlink);
    for (Interface& interface : list) interface.default_route = routes.contains(interface.index);
  } else {
    list = std::move(from_sysfs);
  }
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  return list;
}

std::string interfaces_named(const std::vector<Interface>& all) {
  constexpr std::size_t kMost = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(all.size(), kMost); i++) names += (i ? ", " : "") + shown(all[i].name);
  if (all.size() > kMost) names += ", ...";
  return names.empty() ? "none" : names;
}

}  // namespace omx::link
