// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/neighbours.h"

#include <ifaddrs.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>

#include "base/own_fd.h"
#include "link/udp/on_link.h"

namespace omx::link {

namespace {

constexpr std::uint16_t kDiscardPort = 9;
constexpr std::uint16_t kUsable = NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT;

struct Row {
  int ifindex = 0;
  bool reachable = false;
  NetlinkBytes ip;
  NicId mac = 0;
};

// Returns a row of the neighbour table. Returns nullopt when the message is no row, or the kernel does not
// know the MAC address.
std::optional<Row> row_parse(const NetlinkMessage& message) {
  NetlinkBytes attributes = message.body;
  const auto head = netlink_head_take<ndmsg>(attributes);
  if (message.type != RTM_NEWNEIGH || !head) return std::nullopt;
  if (!(head->ndm_state & kUsable) || (head->ndm_flags & NTF_PROXY)) return std::nullopt;
  Row row;
  row.ifindex = head->ndm_ifindex;
  row.reachable = (head->ndm_state & NUD_REACHABLE) != 0;
  netlink_attributes_visit(attributes, [&](std::uint16_t type, NetlinkBytes data) {
    if (type == NDA_DST) row.ip = data;
    if (type == NDA_LLADDR && data.size() == 6) row.mac = mac_load(data.data());
  });
  return row.mac ? std::optional(row) : std::nullopt;
}

NetlinkRequest table_request(IpFamily family) {
  ndmsg head{};
  head.ndm_family = family == IpFamily::v6 ? AF_INET6 : family == IpFamily::v4 ? AF_INET : AF_UNSPEC;
  return {RTM_GETNEIGH, head};
}

// Returns the IP address in `data`, or all zeros when `data` is no IP address.
Ip ip_of(NetlinkBytes data) {
  Ip ip{};
  if (data.size() == ip.size()) std::memcpy(ip.data(), data.data(), ip.size());
  if (data.size() != 4) return ip;
  ip[10] = ip[11] = 0xFF;
  std::memcpy(&ip[12], data.data(), 4);
  return ip;
}

}  // namespace

std::vector<HostAddress> host_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  std::vector<HostAddress> all;
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    const auto address = interface_address_of(*entry);
    if (!address) continue;
    // An IPv4 address may have a label of its own, such as "eth0:1".
    std::string name(entry->ifa_name, std::strcspn(entry->ifa_name, ":"));
    all.push_back({std::move(name), *address, (entry->ifa_flags & IFF_LOOPBACK) != 0});
    all.back().address.ifindex = ::if_nametoindex(all.back().interface.c_str());
  }
  return all;
}

std::vector<Neighbour> neighbours_find(Netlink& kernel, const Ip& ip) {
  const NetlinkBytes whole = std::as_bytes(std::span(ip));
  const NetlinkBytes wanted = is_ipv4(ip) ? whole.last(4) : whole;
  std::vector<Neighbour> all;
  kernel.dump(table_request(is_ipv4(ip) ? IpFamily::v4 : IpFamily::v6), [&](const NetlinkMessage& message) {
    const auto row = row_parse(message);
    char name[IF_NAMESIZE];
    if (row && std::ranges::equal(row->ip, wanted) &&
        ::if_indextoname(static_cast<unsigned>(row->ifindex), name))
      all.push_back({name, row->mac});
  });
  return all;
}

std::optional<NeighbourAddress> neighbour_address(Netlink& kernel, NicId mac, IpFamily family) {
  std::optional<NeighbourAddress> best;
  kernel.dump(table_request(family), [&](const NetlinkMessage& message) {
    const auto row = row_parse(message);
    if (!row || row->mac != mac) return;
    const NeighbourAddress found{ip_of(row->ip), static_cast<std::uint32_t>(row->ifindex), row->reachable};
    if (found.ip == Ip{}) return;
    const auto rank = [](const NeighbourAddress& a) {
      return std::tuple(!is_ipv4(a.ip), wire::is_link_local(a.ip), !a.reachable, a.ip);
    };
    if (!best || rank(found) < rank(*best)) best = found;
  });
  return best;
}

int neighbour_ask(const Ip& ip, const HostAddress& from) {
  const SocketAddress to = socket_address(ip, kDiscardPort, from.address.ifindex);
  const OwnFd fd = on_link_socket(to.storage.ss_family, from.address.ifindex);
  if (!fd.open()) return errno;
  return ::sendto(fd.get(), nullptr, 0, MSG_NOSIGNAL, to.get(), to.length) < 0 ? errno : 0;
}

std::optional<Ip> route_source(const Ip& ip) {
  const SocketAddress to = socket_address(ip, kDiscardPort, 0);
  const OwnFd fd(::socket(to.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  SocketAddress own;
  own.length = sizeof own.storage;
  if (!fd.open() || ::connect(fd.get(), to.get(), to.length) < 0 ||  // sends nothing
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own.storage), &own.length) < 0)
    return std::nullopt;
  return bulk_address(own).ip;
}

}  // namespace omx::link
