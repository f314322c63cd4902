// SPDX-License-Identifier: BSD-3-Clause
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "link/interfaces_sources.h"

namespace omx::link {

namespace {

constexpr std::size_t kReplyBytes = 64U << 10;  // the kernel fills at most 32 KiB per datagram of a dump

// The macros of rtnetlink.h cast const away: attributes are passed as the kernel's types have them.
std::string_view text_of(rtattr* attribute) {
  const auto* text = static_cast<const char*>(RTA_DATA(attribute));
  return {text, ::strnlen(text, RTA_PAYLOAD(attribute))};
}

std::uint32_t number_of(rtattr* attribute) {
  std::uint32_t value = 0;
  if (RTA_PAYLOAD(attribute) >= sizeof value) std::memcpy(&value, RTA_DATA(attribute), sizeof value);
  return value;
}

// "veth", "bridge", "tun" ... from IFLA_LINKINFO; physical devices have none.
std::string kind_of(rtattr* info) {
  auto length = static_cast<int>(RTA_PAYLOAD(info));
  for (auto* inner = static_cast<rtattr*>(RTA_DATA(info)); RTA_OK(inner, length);
       inner = RTA_NEXT(inner, length)) {
    if (inner->rta_type == IFLA_INFO_KIND) return std::string(text_of(inner));
  }
  return {};
}

struct Parsed {
  Interface interface;
  std::uint32_t master = 0;  // ifindex
};

Parsed parse_link(nlmsghdr* message) {
  Parsed p;
  auto* link = static_cast<ifinfomsg*>(NLMSG_DATA(message));
  p.interface.index = static_cast<std::uint32_t>(link->ifi_index);
  p.interface.up = link->ifi_flags & IFF_UP;
  p.interface.running = link->ifi_flags & IFF_RUNNING;
  p.interface.loopback = link->ifi_flags & IFF_LOOPBACK;
  p.interface.ethernet = link->ifi_type == ARPHRD_ETHER;
  auto length = static_cast<int>(IFLA_PAYLOAD(message));
  for (rtattr* a = IFLA_RTA(link); RTA_OK(a, length); a = RTA_NEXT(a, length)) {
    switch (a->rta_type) {
      case IFLA_IFNAME:
        p.interface.name = text_of(a);
        break;
      case IFLA_MTU:
        p.interface.mtu = number_of(a);
        break;
      case IFLA_MASTER:
        p.master = number_of(a);
        break;
      case IFLA_LINKINFO:
        p.interface.kind = kind_of(a);
        break;
      case IFLA_ADDRESS:
        if (RTA_PAYLOAD(a) == 6) p.interface.nic = mac_load(static_cast<const std::byte*>(RTA_DATA(a)));
        break;
      default:
        break;
    }
  }
  return p;
}

bool request_dump(int fd) {
  struct {
    nlmsghdr header;
    ifinfomsg link;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  return ::send(fd, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request);
}

bool read_dump(int fd, std::vector<Parsed>& list) {
  std::vector<char> buffer(kReplyBytes);
  for (;;) {
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    auto length = static_cast<unsigned>(got);
    for (auto* message = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(message, length);
         message = NLMSG_NEXT(message, length)) {
      if (message->nlmsg_type == NLMSG_DONE) return true;
      if (message->nlmsg_type == NLMSG_ERROR) return false;
      if (message->nlmsg_type == RTM_NEWLINK) list.push_back(parse_link(message));
    }
  }
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
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return false;
  std::vector<Parsed> parsed;
  const bool complete = request_dump(fd) && read_dump(fd, parsed);
  if (complete) {
    for (Parsed& p : parsed) {
      Interface& interface = p.interface;
      // Netlink sockets answer no device ioctl of their own, but pass ethtool's on.
      add_ethtool_facts(fd, interface);
      if (interface.loopback) interface.kind = "loopback";
      interface.virtual_kind = !interface.kind.empty();
      if (interface.kind.empty()) interface.kind = "physical";
      for (const Parsed& other : parsed) {
        if (p.master && other.interface.index == p.master) interface.master = other.interface.name;
      }
      list.push_back(interface);
    }
  }
  ::close(fd);
  return complete;
}

}  // namespace omx::link
