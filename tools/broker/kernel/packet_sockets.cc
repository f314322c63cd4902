// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/packet_sockets.h"

#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/netlink.h"

namespace omx::broker {

int packet_sockets_list(std::vector<PacketSocket>& sockets) {
  Netlink kernel(NETLINK_SOCK_DIAG);
  packet_diag_req request{};
  request.sdiag_family = AF_PACKET;
  request.pdiag_show = PACKET_SHOW_FILTER | PACKET_SHOW_RING_CFG;
  return kernel.dump({SOCK_DIAG_BY_FAMILY, request}, [&](const NetlinkMessage& message) {
    NetlinkBytes body = message.body;
    const auto head = netlink_head_take<packet_diag_msg>(body);
    if (!head) return;
    PacketSocket socket;
    socket.cookie = std::uint64_t{head->pdiag_cookie[1]} << 32 | head->pdiag_cookie[0];
    netlink_attributes_visit(body, [&](std::uint16_t type, NetlinkBytes data) {
      if (type == PACKET_DIAG_FILTER) socket.classic_filter = !data.empty();
      if (type != PACKET_DIAG_RX_RING) return;
      if (const auto ring = netlink_head_take<packet_diag_ring>(data))
        socket.ring = std::uint64_t{ring->pdr_block_size} * ring->pdr_block_nr;
    });
    sockets.push_back(socket);
  });
}

bool sealed_sockets_live() {
  std::vector<PacketSocket> sockets;
  return packet_sockets_list(sockets) != 0 ||
         std::ranges::any_of(sockets, [](const PacketSocket& socket) { return !socket.classic_filter; });
}

}  // namespace omx::broker
