// SPDX-License-Identifier: BSD-3-Clause
#include "link/packet/packet_socket.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cerrno>

#include "wire/packets.h"

namespace omx::link {

OwnFd packet_socket_new() {
  // With protocol 0 nothing arrives before the socket is bound.
  OwnFd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.open()) return fd;
  const int one = 1;
  // Kernels before 4.20 lack this option. There the filter does the same.
  ::setsockopt(fd.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one);
  return fd;
}

int packet_sockets_possible() {
  return packet_socket_new().open() ? 0 : errno;
}

int packet_socket_bind(int fd, std::uint32_t ifindex) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(wire::kEthertype);
  address.sll_ifindex = static_cast<int>(ifindex);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ? errno : 0;
}

bool packet_socket_bound(int fd, std::uint32_t ifindex) {
  sockaddr_ll address{};
  socklen_t length = sizeof address;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0 &&
         address.sll_ifindex == static_cast<int>(ifindex);
}

void packet_socket_unbind(int fd) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

void packet_socket_clear_error(int fd) {
  int pending = 0;
  socklen_t length = sizeof pending;
  if (fd >= 0) ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &pending, &length);  // reading clears it
}

}  // namespace omx::link
