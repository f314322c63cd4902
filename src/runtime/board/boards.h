// SPDX-License-Identifier: BSD-3-Clause
// Boards: the Ethernet interfaces that this process uses, numbered from 0 in the order of interfaces_choose()
// (papers O2: any Ethernet hardware).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "link/udp/udp_address.h"
#include "link/xdp/xdp_options.h"
#include "netdev/interfaces.h"
#include "netdev/interfaces_choose.h"
#include "steering/flow_hints.h"

namespace omx::runtime {

struct Board {
  std::uint32_t number = 0;
  link::Interface interface;
  NicId mac = 0;                                // of the interface, however it is reached
  bool udp = false;                             // reached by UDP: interface.nic is a UDP link's
  link::IpFamily family = link::IpFamily::any;  // then, the same for all
  std::uint32_t mtu = 0;                        // of its link
  std::string hostname;                         // "host:number", as peers know it (docs/spec/mx-clients.md 7)
};

// With OMX_LINK=auto, what this process may use decides.
Result<std::vector<Board>> boards_find(const Settings& settings);

// Whether they are reached by UDP: all are, or none.
inline bool boards_by_udp(const std::vector<Board>& boards) {
  return !boards.empty() && boards.front().udp;
}

// Where the frames of its endpoints arrive, if it is reached by UDP.
inline std::optional<steering::DatagramPorts> datagram_ports(const Board& board, const Settings& settings) {
  if (!board.udp) return std::nullopt;
  const bool ipv6 = board.family == link::IpFamily::v6;
  return steering::DatagramPorts{settings.udp_port, !ipv6, ipv6};
}

// How an endpoint of a board opens AF_XDP, if it does: `packets` is for what does not come that way.
link::XdpLinkOptions xdp_options(const Settings& settings, link::PacketLinkOptions packets);

inline link::IpFamily boards_family(const std::vector<Board>& boards) {
  return boards.empty() ? link::IpFamily::any : boards.front().family;
}

// 0 if this process may send raw frames, else errno.
int frames_possible();

}  // namespace omx::runtime
