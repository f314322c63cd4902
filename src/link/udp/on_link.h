// SPDX-License-Identifier: BSD-3-Clause
// UDP sockets for probes. Their datagrams stay in the networks that this host is connected to.
#pragma once

#include <sys/socket.h>

#include <cstdint>

#include "base/own_fd.h"

namespace omx::link {

// Returns a non-blocking UDP socket whose datagrams no router forwards, or a closed one with errno set. Over
// IPv4 the socket refuses to send to a router. IPv6 has no such option, so a router may get the datagram,
// and drops it. The datagrams leave by the interface `ifindex`; with 0 the routes choose. Needs no
// privilege.
OwnFd on_link_socket(sa_family_t family, std::uint32_t ifindex);

}  // namespace omx::link
