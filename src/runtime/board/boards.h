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
  bool udp = false;                             // reached by UDP, and interface.nic is a UDP link's id
  link::IpFamily family = link::IpFamily::any;  // by UDP: the same for all boards
  std::uint32_t mtu = 0;                        // by UDP: of the board's link
  std::string hostname;                         // "host:number", as peers know it (docs/spec/mx-clients.md 7)
  std::string broker;    // path of the broker that grants the board's sockets; empty: this process makes them
  bool trusted = false;  // by the broker: its sockets are on the interface itself
  // Returns whether a broker grants the sockets, and answers for the board.
  bool granted() const { return !broker.empty(); }
};

// Finds the boards. Without the right to send raw frames, this asks the host's broker for it (OMX_BROKER). If
// there is none, the boards are reached by UDP with OMX_LINK=auto.
Result<std::vector<Board>> boards_find(const Settings& settings);

// Returns whether the boards are reached by UDP. Either all are, or none.
inline bool boards_by_udp(const std::vector<Board>& boards) {
  return !boards.empty() && boards.front().udp;
}

// Returns the ports where frames of the board's endpoints arrive, if the board is reached by UDP.
inline std::optional<steering::DatagramPorts> datagram_ports(const Board& board, const Settings& settings) {
  if (!board.udp) return std::nullopt;
  const bool ipv6 = board.family == link::IpFamily::v6;
  return steering::DatagramPorts{settings.udp_port, !ipv6, ipv6};
}

// Returns how an endpoint of a board opens AF_XDP. `packets` is for the traffic that does not use AF_XDP.
link::XdpLinkOptions xdp_options(const Settings& settings, link::PacketLinkOptions packets);

// Returns whether a broker grants the boards' sockets. Either it grants all, or none.
inline bool boards_granted(const std::vector<Board>& boards) {
  return !boards.empty() && boards.front().granted();
}

inline link::IpFamily boards_family(const std::vector<Board>& boards) {
  return boards.empty() ? link::IpFamily::any : boards.front().family;
}

// Returns 0 if this process may send raw frames by sockets of its own, else errno.
int frames_possible();

}  // namespace omx::runtime
