// SPDX-License-Identifier: BSD-3-Clause
// UDP sockets that take whole GSO batches, and never send fragments.
#pragma once

#include "base/own_fd.h"
#include "link/udp/udp_address.h"

namespace omx::link {

// Sockets let queues mark their datagrams (ECN, RFC 3168), and tell of marks on those that come.

// Returns a socket bound to the address and `port` (0: any), or a closed one with errno set.
OwnFd udp_socket_open(const InterfaceAddress& address, std::uint16_t port);
// Returns a second socket with the address and port of `first`. Afterwards no other socket can have them.
OwnFd udp_socket_beside(int first, const InterfaceAddress& address, std::uint16_t port);
// Lets no queue mark what the socket sends. Does nothing without a socket.
void udp_socket_marks_forgo(int fd);
std::uint16_t udp_socket_port(int fd);
// Returns a socket for datagrams to a multicast group of the interface's own network.
OwnFd udp_group_open(const Ip& group, std::uint16_t port, std::uint32_t ifindex);

}  // namespace omx::link
