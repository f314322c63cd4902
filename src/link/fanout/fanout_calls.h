// SPDX-License-Identifier: BSD-3-Clause
// What a packet fanout group asks the kernel for.
#pragma once

#include <cstdint>

namespace omx::link {

// Founds a fan-out group whose first member is the socket, which is bound; and joins one.
bool fanout_found(int fd);
bool fanout_join(int fd, std::uint32_t fanout);
// The group of a socket, as fanout_join() wants it; 0: none.
std::uint32_t fanout_of(int fd);

// A socket that takes nothing and costs the least memory.
bool dropping_prepare(int fd);
// 0 or errno.
int drop_all(int fd);
// Until frames that met the former filter of a socket have passed it.
void frames_settle();

// The network namespace of a socket; 0: this kernel cannot tell.
std::uint64_t network_of(int fd);

}  // namespace omx::link
