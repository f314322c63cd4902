// SPDX-License-Identifier: BSD-3-Clause
// The system calls of a packet fanout group.
#pragma once

#include <cstdint>

namespace omx::link {

// fanout_found() makes a new fanout group whose first member is this bound socket. fanout_join() joins a
// group.
bool fanout_found(int fd);
bool fanout_join(int fd, std::uint32_t fanout);
// Returns the group of a socket, as fanout_join() takes it, or 0 when the socket is in no group.
std::uint32_t fanout_of(int fd);

// Makes a socket one that takes no frames and costs the least memory.
bool dropping_prepare(int fd);
// Lets no frame into a socket. Returns 0 or errno.
int drop_all(int fd);
// Waits until frames that met the former filter of a socket have passed it.
void frames_settle();

// Returns the network namespace of a socket, or 0 when this kernel cannot tell.
std::uint64_t network_of(int fd);

}  // namespace omx::link
