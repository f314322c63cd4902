// SPDX-License-Identifier: BSD-3-Clause
// Operations on all packet sockets of an endpoint.
#pragma once

#include <cstdint>

#include "base/own_fd.h"

namespace omx::link {

// Returns a socket that takes no frames yet: filter and ring come first, then packet_socket_bind(). On
// failure the descriptor is not open and errno is set.
OwnFd packet_socket_new();
// Returns 0 if this process may open packet sockets, else errno.
int packet_sockets_possible();
// Binds the socket to an interface. Returns 0 or errno.
int packet_socket_bind(int fd, std::uint32_t ifindex);
// Returns whether the socket is bound to that interface. Once the interface was removed, it never is again,
// even if another interface has the index now.
bool packet_socket_bound(int fd, std::uint32_t ifindex);
// Makes the socket take no more frames.
void packet_socket_unbind(int fd);
// Clears the error that an outage leaves behind, which would end every poll() at once. Does nothing for a
// closed socket.
void packet_socket_clear_error(int fd);

}  // namespace omx::link
