// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/interfaces_netlink.h"

#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/own_fd.h"

namespace omx::link {

namespace {

struct Parsed {
  Interface interface;
  std::uint32_t master = 0;  // ifindex
  std::uint32_t lower = 0;   // ifindex of the interface below it
  bool takes_all = false;    // all frames of that interface go to it: macvlan in the mode "passthru"
};

// Reads "veth", "bridge", "tun" ... from IFLA_LINKINFO. Physical devices have none.
void kind_take(Parsed& p, NetlinkBytes info) {
  NetlinkBytes details;
  netlink_attributes_visit(info, [&](std::uint16_t type, NetlinkBytes data) {
    if (type == IFLA_INFO_KIND) p.interface.kind = netlink_text(data);
    if (type == IFLA_INFO_DATA) details = data;
  });
  if (p.interface.kind != "macvlan" && p.interface.kind != "macvtap") return;
  netlink_attributes_visit(details, [&p](std::uint16_t type, NetlinkBytes data) {
    if (type == IFLA_MACVLAN_MODE) p.takes_all = netlink_number<std::uint32_t>(data) == MACVLAN_MODE_PASSTHRU;
  });
}

void attribute_take(Parsed& p, std::uint16_t type, NetlinkBytes data) {
  switch (type) {
    case IFLA_IFNAME:
      p.interface.name = netlink_text(data);
      break;
    case IFLA_MTU:
      p.interface.mtu = netlink_number<std::uint32_t>(data);
      break;
    case IFLA_MASTER:
      p.master = netlink_number<std::uint32_t>(data);
      break;
    case IFLA_LINKINFO:
      kind_take(p, data);
      break;
    case IFLA_LINK:
      p.lower = netlink_number<std::uint32_t>(data);
      break;
    case IFLA_ADDRESS:
      if (data.size() == 6) p.interface.nic = mac_load(data.data());
      break;
    default:
      break;
  }
}

std::optional<Parsed> parse_link(const NetlinkMessage& message) {
  NetlinkBytes attributes = message.body;
  const auto link = netlink_head_take<ifinfomsg>(attributes);
  if (message.type != RTM_NEWLINK || !link) return std::nullopt;
  Parsed p;
  p.interface.index = static_cast<std::uint32_t>(link->ifi_index);
  p.interface.up = link->ifi_flags & IFF_UP;
  p.interface.running = link->ifi_flags & IFF_RUNNING;
  p.interface.loopback = link->ifi_flags & IFF_LOOPBACK;
  p.interface.ethernet = link->ifi_type == ARPHRD_ETHER;
  netlink_attributes_visit(attributes,
                           [&p](std::uint16_t type, NetlinkBytes data) { attribute_take(p, type, data); });
  return p;
}

bool looks_like_pci(std::string_view text) {
  return text.size() >= 12 && text[4] == ':' && text[7] == ':' && text[10] == '.';  // 0000:3b:00.0
}

void add_ethtool_facts(int fd, Interface& interface) {
  ifreq request{};
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  std::memcpy(request.ifr_name, interface.name.data(),
              std::min(interface.name.size(), sizeof request.ifr_name - 1));
  request.ifr_data = reinterpret_cast<char*>(&info);
  if (::ioctl(fd, SIOCETHTOOL, &request) < 0) return;
  interface.driver = std::string(info.driver, ::strnlen(info.driver, sizeof info.driver));
  const std::string_view bus(info.bus_info, ::strnlen(info.bus_info, sizeof info.bus_info));
  if (looks_like_pci(bus)) interface.pci_address = bus;
}

}  // namespace

bool interfaces_read_netlink(std::vector<Interface>& list) {
  Netlink netlink(NETLINK_ROUTE);
  return interfaces_read_netlink(netlink, list);
}

bool interfaces_read_netlink(Netlink& netlink, std::vector<Interface>& list) {
  std::vector<Parsed> parsed;
  const int error =
      netlink.dump(NetlinkRequest(RTM_GETLINK, ifinfomsg{}), [&parsed](const NetlinkMessage& message) {
        if (auto link = parse_link(message)) parsed.push_back(std::move(*link));
      });
  if (error) return false;
  // Netlink sockets have no device ioctl of their own, but pass those of ethtool on.
  const OwnFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  for (Parsed& p : parsed) {
    Interface& interface = p.interface;
    if (fd.open()) add_ethtool_facts(fd.get(), interface);
    if (interface.loopback) interface.kind = "loopback";
    interface.virtual_kind = !interface.kind.empty();
    if (interface.kind.empty()) interface.kind = "physical";
    for (const Parsed& other : parsed) {
      const bool above =
          p.master ? other.interface.index == p.master : other.takes_all && other.lower == interface.index;
      if (above) interface.master = other.interface.name;
    }
    list.push_back(interface);
  }
  return true;
}

}  // namespace omx::link
