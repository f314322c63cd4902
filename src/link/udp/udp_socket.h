// SPDX-License-Identifier: BSD-3-Clause
// The UDP socket of a lane: whole GSO batches at once, never fragmented.
#pragma once

#include "base/own_fd.h"
#include "link/udp/udp_address.h"

namespace omx::link {

// Bound to the address and `port` (0: any). Not open: errno says why.
OwnFd udp_socket_open(const InterfaceAddress& address, std::uint16_t port);
// Another one with the same address and port as `first`; both end up such that nobody else can have them.
OwnFd udp_socket_beside(int first, const InterfaceAddress& address, std::uint16_t port);
std::uint16_t udp_socket_port(int fd);
// For datagrams to a multicast group of the interface's own network.
OwnFd udp_group_open(const Ip& group, std::uint16_t port, std::uint32_t ifindex);

}  // namespace omx::link
