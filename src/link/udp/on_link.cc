// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/on_link.h"

#include <net/if.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>

namespace omx::link {

namespace {

bool option_set(const OwnFd& fd, int level, int option, int value) {
  return ::setsockopt(fd.get(), level, option, &value, sizeof value) == 0;
}

bool hops_limit(const OwnFd& fd, sa_family_t family) {
  constexpr int kHops = 1;
  if (family == AF_INET6) return option_set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, kHops);
  return option_set(fd, IPPROTO_IP, IP_TTL, kHops) && option_set(fd, SOL_SOCKET, SO_DONTROUTE, 1);
}

bool device_bind(const OwnFd& fd, std::uint32_t ifindex) {
  char name[IF_NAMESIZE];
  return ifindex == 0 ||
         (::if_indextoname(ifindex, name) && ::setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, name,
                                                          static_cast<socklen_t>(std::strlen(name))) == 0);
}

}  // namespace

OwnFd on_link_socket(sa_family_t family, std::uint32_t ifindex) {
  OwnFd fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.open() || (hops_limit(fd, family) && device_bind(fd, ifindex))) return fd;
  const int error = errno;
  fd.reset();
  errno = error;
  return fd;
}

}  // namespace omx::link
