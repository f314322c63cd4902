// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_calls.h"

#include <linux/if_packet.h>
#include <linux/membarrier.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "link/fanout/fanout_directory.h"
#include "link/packet/packet_filter.h"

namespace omx::link {

bool fanout_found(int fd) {
  constexpr std::uint32_t kNewGroup = (PACKET_FANOUT_CBPF | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
  return ::setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &kNewGroup, sizeof kNewGroup) == 0;
}

bool fanout_join(int fd, std::uint32_t fanout) {
  return ::setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &fanout, sizeof fanout) == 0;
}

std::uint32_t fanout_of(int fd) {
  std::uint32_t fanout = 0;
  socklen_t size = sizeof fanout;
  return ::getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &fanout, &size) == 0 ? fanout : 0;
}

bool dropping_prepare(int fd) {
  const int least = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
  return drop_all(fd) == 0;
}

int drop_all(int fd) {
  return packet_filter_attach(fd, {BPF_STMT(BPF_RET | BPF_K, 0)});
}

void frames_settle() {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  nap(10);
}

std::uint64_t network_of(int fd) {
  std::uint64_t cookie = 0;
#ifdef SO_NETNS_COOKIE
  socklen_t size = sizeof cookie;
  ::getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size);
#else
  static_cast<void>(fd);
#endif
  return cookie;
}

}  // namespace omx::link
