// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/interfaces_routes.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace omx::link {

namespace {

void hops_visit(NetlinkBytes hops, std::set<std::uint32_t>& found) {
  rtnexthop hop{};
  while (hops.size() >= sizeof hop) {
    std::memcpy(&hop, hops.data(), sizeof hop);
    if (hop.rtnh_len < sizeof hop || hop.rtnh_len > hops.size()) return;
    found.insert(static_cast<std::uint32_t>(hop.rtnh_ifindex));
    hops = hops.subspan(std::min<std::size_t>(RTNH_ALIGN(hop.rtnh_len), hops.size()));
  }
}

void default_route_take(const NetlinkMessage& message, std::set<std::uint32_t>& found) {
  NetlinkBytes attributes = message.body;
  const auto route = netlink_head_take<rtmsg>(attributes);
  if (message.type != RTM_NEWROUTE || !route) return;
  // IPv6 also has a default route that leads nowhere.
  if (route->rtm_dst_len != 0 || route->rtm_table != RT_TABLE_MAIN || route->rtm_type != RTN_UNICAST) return;
  netlink_attributes_visit(attributes, [&found](std::uint16_t type, NetlinkBytes data) {
    if (type == RTA_OIF) found.insert(netlink_number<std::uint32_t>(data));
    if (type == RTA_MULTIPATH) hops_visit(data, found);
  });
}

}  // namespace

std::set<std::uint32_t> default_routes_read(Netlink& netlink) {
  std::set<std::uint32_t> found;
  for (const int family : {AF_INET, AF_INET6}) {
    rtmsg request{};
    request.rtm_family = static_cast<unsigned char>(family);
    request.rtm_table = RT_TABLE_MAIN;
    netlink.dump(NetlinkRequest(RTM_GETROUTE, request),
                 [&found](const NetlinkMessage& message) { default_route_take(message, found); });
  }
  return found;
}

}  // namespace omx::link
