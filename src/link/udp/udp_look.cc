// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_look.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/own_fd.h"
#include "link/udp/on_link.h"

namespace omx::link {

UdpPort udp_port_look(const Ip& ip, std::uint16_t port, std::uint32_t ifindex, unsigned limit_ms) {
  // Hosts limit how many ICMP errors they send, so one datagram may get no answer.
  constexpr unsigned kTries = 2;
  const SocketAddress to = socket_address(ip, port, ifindex);
  const OwnFd fd = on_link_socket(to.storage.ss_family, ifindex);
  if (!fd.open() || ::connect(fd.get(), to.get(), to.length) < 0) return UdpPort::not_sent;
  for (unsigned i = 0; i < kTries; i++) {
    if (::send(fd.get(), nullptr, 0, MSG_NOSIGNAL) < 0)
      return errno == ECONNREFUSED ? UdpPort::closed : UdpPort::not_sent;
    pollfd wait{fd.get(), POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(limit_ms / kTries)) <= 0) continue;
    char byte = 0;
    if (::recv(fd.get(), &byte, 1, 0) >= 0) continue;
    if (errno == ECONNREFUSED) return UdpPort::closed;
    if (errno == EHOSTUNREACH || errno == ENETUNREACH) return UdpPort::not_sent;
  }
  return UdpPort::silent;
}

}  // namespace omx::link
