// SPDX-License-Identifier: BSD-3-Clause
// Sets socket buffers as large as possible. With CAP_NET_ADMIN any size is possible, otherwise up to the
// system's limits (net.core.rmem_max, wmem_max).
#pragma once

#include <sys/socket.h>

namespace omx::link {

// The buffer size of links, for frames in flight between us and the NIC. A frame of 64 KiB is charged as
// about 70 KiB.
inline constexpr int kSocketBuffer = 8 << 20;
// The buffer size of the bulk socket, for the pull window of a few messages. It is charged at up to twice
// its size.
inline constexpr int kBulkBuffer = 32 << 20;

// Asks for `bytes`. Returns what the kernel will charge at most, about twice what was granted.
inline int socket_buffer_set(int fd, int option, int option_force, int bytes) {
  ::setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof bytes);
  ::setsockopt(fd, SOL_SOCKET, option_force, &bytes, sizeof bytes);
  int granted = 0;
  socklen_t length = sizeof granted;
  ::getsockopt(fd, SOL_SOCKET, option, &granted, &length);
  return granted;
}

inline int receive_buffer_set(int fd, int bytes) {
  return socket_buffer_set(fd, SO_RCVBUF, SO_RCVBUFFORCE, bytes);
}
inline int send_buffer_set(int fd, int bytes) {
  return socket_buffer_set(fd, SO_SNDBUF, SO_SNDBUFFORCE, bytes);
}

}  // namespace omx::link
