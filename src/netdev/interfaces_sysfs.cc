// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/interfaces_sysfs.h"

#include <net/if.h>
#include <net/if_arp.h>

#include <charconv>
#include <filesystem>
#include <fstream>

namespace omx::link {

namespace fs = std::filesystem;

namespace {

// Returns the first line of a file, or an empty string when it cannot be read. E.g. reading `speed` of a
// port without carrier fails.
std::string line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::int64_t number_of(const fs::path& path, std::int64_t otherwise) {
  const std::string line = line_of(path);
  const bool hexadecimal = line.rfind("0x", 0) == 0;
  std::int64_t value = otherwise;
  const char* start = line.data() + (hexadecimal ? 2 : 0);
  const auto [end, error] = std::from_chars(start, line.data() + line.size(), value, hexadecimal ? 16 : 10);
  return error == std::errc{} && end != start ? value : otherwise;
}

// Returns the last component of what a symbolic link points to, or an empty string when the path is no link.
std::string link_target(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::read_symlink(path, error);
  return error ? std::string{} : target.filename().string();
}

bool present(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Returns DEVTYPE of uevent, such as "bridge", "bond", "vlan", "vxlan" or "wlan". Most devices have none.
std::string device_type(const fs::path& directory) {
  std::ifstream file(directory / "uevent");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("DEVTYPE=", 0) == 0) return line.substr(8);
  }
  return {};
}

// Returns whether an interface has others below it. Stacked interfaces (macvlan, vlan) have lower_NAME links
// to them.
bool has_lower(const fs::path& directory) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename().string().rfind("lower_", 0) == 0) return true;
  }
  return false;
}

std::string kind_of(const fs::path& directory, const Interface& interface) {
  if (interface.loopback) return "loopback";
  if (present(directory / "bridge")) return "bridge";
  if (present(directory / "tun_flags")) return "tun";
  if (present(directory / "bonding")) return "bond";
  if (present(directory / "device")) return "physical";
  std::string type = device_type(directory);
  if (!type.empty()) return type;
  // Among the remaining kinds, a veth has another interface's index as its link and no interface below it.
  const bool linked = number_of(directory / "iflink", interface.index) != interface.index;
  return linked && !has_lower(directory) ? "veth" : "virtual";
}

Interface read_one(const fs::path& directory) {
  Interface i;
  i.name = directory.filename().string();
  i.index = static_cast<std::uint32_t>(number_of(directory / "ifindex", 0));
  i.nic = mac_parse(line_of(directory / "address")).value_or(0);
  i.mtu = static_cast<std::uint32_t>(number_of(directory / "mtu", 0));
  const std::int64_t flags = number_of(directory / "flags", 0);
  i.up = flags & IFF_UP;
  // `carrier` cannot be read while the interface is down, and the flags of sysfs lack IFF_RUNNING.
  i.running = i.up && number_of(directory / "carrier", 0) == 1;
  i.loopback = flags & IFF_LOOPBACK;
  i.ethernet = number_of(directory / "type", -1) == ARPHRD_ETHER;
  i.kind = kind_of(directory, i);
  i.virtual_kind = i.kind != "physical";
  i.master = link_target(directory / "master");
  i.driver = link_target(directory / "device" / "driver");
  i.speed_mbps = number_of(directory / "speed", -1);
  i.numa_node = static_cast<int>(number_of(directory / "device" / "numa_node", -1));
  if (link_target(directory / "device" / "subsystem") == "pci")
    i.pci_address = link_target(directory / "device");
  return i;
}

}  // namespace

std::vector<Interface> interfaces_read_sysfs(const std::string& sysfs) {
  std::vector<Interface> list;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(sysfs) / "class" / "net", error)) {
    // Files beside the interfaces exist, such as bonding_masters.
    if (present(entry.path() / "ifindex")) list.push_back(read_one(entry.path()));
  }
  return list;
}

}  // namespace omx::link
