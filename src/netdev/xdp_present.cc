// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/xdp_present.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <cerrno>

#include "base/netlink.h"

namespace omx::link {

namespace {

XdpPresent present_of(NetlinkBytes xdp) {
  XdpPresent present;
  netlink_attributes_visit(xdp, [&present](std::uint16_t type, NetlinkBytes data) {
    if (type == IFLA_XDP_DRV_PROG_ID) present.native = netlink_number<std::uint32_t>(data);
    if (type == IFLA_XDP_SKB_PROG_ID) present.generic = netlink_number<std::uint32_t>(data);
    if (type == IFLA_XDP_HW_PROG_ID) present.offloaded = netlink_number<std::uint32_t>(data);
  });
  return present;
}

}  // namespace

int xdp_present(std::uint32_t index, XdpPresent& present) {
  ifinfomsg link{};
  link.ifi_index = static_cast<int>(index);
  bool told = false;
  const int error =
      Netlink(NETLINK_ROUTE).ask(NetlinkRequest(RTM_GETLINK, link), [&](const NetlinkMessage& message) {
        NetlinkBytes attributes = message.body;
        if (message.type != RTM_NEWLINK || !netlink_head_take<ifinfomsg>(attributes)) return;
        told = true;
        present = {};
        netlink_attributes_visit(attributes, [&](std::uint16_t type, NetlinkBytes data) {
          if (type == IFLA_XDP) present = present_of(data);
        });
      });
  return error == 0 && !told ? EIO : error;
}

}  // namespace omx::link
