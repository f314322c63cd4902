// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_socket.h"

#include <netinet/udp.h>

#include <cerrno>
#include <cstring>

namespace omx::link {

namespace {

void set(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

// ECT(0) of RFC 3168: queues may mark datagrams instead of dropping them.
constexpr int kMayBeMarked = 2;

// A socket has one of the two options and refuses the other.
void marks_set(int fd, int value) {
  set(fd, IPPROTO_IP, IP_TOS, value);
  set(fd, IPPROTO_IPV6, IPV6_TCLASS, value);
}

}  // namespace

namespace {

OwnFd socket_new(const InterfaceAddress& address) {
  const bool v4 = is_ipv4(address.ip);
  OwnFd fd(::socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.open()) return fd;
  // Datagrams are never fragmented. What routers say of their MTU can be forged by any host, so it changes
  // nothing: the engine has its own probes.
  if (v4)
    set(fd.get(), IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
  else
    set(fd.get(), IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
  marks_set(fd.get(), kMayBeMarked);
  set(fd.get(), v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_RECVTOS : IPV6_RECVTCLASS, 1);
  // A kernel without this option (before 5.0) hands over single frames.
  set(fd.get(), SOL_UDP, UDP_GRO, 1);
  return fd;
}

void bind_or_reset(OwnFd& fd, const InterfaceAddress& address, std::uint16_t port) {
  const SocketAddress own = socket_address(address.ip, port, address.ifindex);
  if (::bind(fd.get(), own.get(), own.length) == 0) return;
  const int error = errno;
  fd.reset();
  errno = error;
}

}  // namespace

OwnFd udp_socket_open(const InterfaceAddress& address, std::uint16_t port) {
  OwnFd fd = socket_new(address);
  if (fd.open()) bind_or_reset(fd, address, port);
  return fd;
}

// Lets two sockets have the same address by SO_REUSEPORT. The kernel checks the option of both sockets when
// the second is bound, and requires that both belong to the same user. SO_REUSEADDR would let in any user at
// that moment. Afterwards neither socket lets another one in.
OwnFd udp_socket_beside(int first, const InterfaceAddress& address, std::uint16_t port) {
  OwnFd fd = socket_new(address);
  if (!fd.open()) return fd;
  set(first, SOL_SOCKET, SO_REUSEPORT, 1);
  set(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1);
  bind_or_reset(fd, address, port);
  set(first, SOL_SOCKET, SO_REUSEPORT, 0);
  if (fd.open()) set(fd.get(), SOL_SOCKET, SO_REUSEPORT, 0);
  return fd;
}

OwnFd udp_group_open(const Ip& group, std::uint16_t port, std::uint32_t ifindex) {
  OwnFd fd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.open()) return fd;
  const SocketAddress own = socket_address(group, port, ifindex);
  ipv6_mreq member{};
  std::memcpy(&member.ipv6mr_multiaddr, group.data(), group.size());
  member.ipv6mr_interface = ifindex;
  if (::bind(fd.get(), own.get(), own.length) != 0 ||
      ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_JOIN_GROUP, &member, sizeof member) != 0)
    fd.reset();
  return fd;
}

void udp_socket_marks_forgo(int fd) {
  if (fd >= 0) marks_set(fd, 0);
}

std::uint16_t udp_socket_port(int fd) {
  SocketAddress own;
  own.length = sizeof own.storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own.storage), &own.length) != 0) return 0;
  return bulk_address(own).port;
}

}  // namespace omx::link
