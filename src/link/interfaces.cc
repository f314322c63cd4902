// SPDX-License-Identifier: BSD-3-Clause
#include "link/interfaces.h"

#include <algorithm>

#include "link/interfaces_sources.h"

namespace omx::link {

namespace {

// Copies what only sysfs knows, if its entry is the same interface. Without the remount of `ip netns exec`,
// /sys shows the namespace in which it was mounted, where names and even indexes repeat.
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

}  // namespace

std::vector<Interface> interfaces_list(const std::string& sysfs) {
  std::vector<Interface> from_sysfs = interfaces_read_sysfs(sysfs);
  std::vector<Interface> list;
  if (sysfs == "/sys" && interfaces_read_netlink(list)) {
    for (Interface& interface : list) add_sysfs_facts(interface, from_sysfs);
  } else {
    list = std::move(from_sysfs);
  }
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  return list;
}

}  // namespace omx::link
