// SPDX-License-Identifier: BSD-3-Clause
// What all packet sockets of an endpoint have in common.
#pragma once

#include <cstdint>

#include "base/own_fd.h"

namespace omx::link {

// Takes no frames yet: filter and ring come first, then packet_socket_bind(). Not open, with errno, when it
// cannot be had.
OwnFd packet_socket_new();
// 0 if this process may open packet sockets, else errno.
int packet_sockets_possible();
// 0 or errno.
int packet_socket_bind(int fd, std::uint32_t ifindex);
// Whether it is bound to that interface. Not any more, for good, once that was removed, even if another one
// has its index now.
bool packet_socket_bound(int fd, std::uint32_t ifindex);
// Takes no frames any more.
void packet_socket_unbind(int fd);
// An outage leaves an error behind that would end every poll() at once. Nothing for a socket that is not
// open.
void packet_socket_clear_error(int fd);

}  // namespace omx::link
