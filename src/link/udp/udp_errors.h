// SPDX-License-Identifier: BSD-3-Clause
// What the network answers instead of a peer (ICMP): the kernel keeps it beside the socket, with what came
// back of the datagram that it is about. Anybody on the way can forge it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/lane.h"

namespace omx::link {

struct UdpError {
  static constexpr std::size_t kBytesMost = 1024;  // of the datagram; routers send back some 500

  int error = 0;         // errno
  wire::LaneAddress to;  // where the datagram was sent
  wire::LaneAddress by;  // who says so; no address: this host
  std::size_t bytes = 0;
  std::byte datagram[kBytesMost];
};

// Makes the socket keep them. Sends and receives then report each error once, whomever it concerns.
void udp_errors_keep(int fd, bool ipv4);
// Takes one; none: there is no other.
bool udp_error_take(int fd, UdpError& out);

}  // namespace omx::link
