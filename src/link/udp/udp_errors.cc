// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_errors.h"

#include <linux/errqueue.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "link/udp/udp_address.h"

namespace omx::link {

namespace {

// Reads the error in the control data of a message, and the address behind it of the host that reported it.
void error_read(const cmsghdr& header, UdpError& out) {
  constexpr std::size_t kOffenderAt = sizeof(sock_extended_err);
  const std::size_t length = header.cmsg_len - CMSG_LEN(0);
  if (length < kOffenderAt) return;
  sock_extended_err error;
  std::memcpy(&error, CMSG_DATA(&header), sizeof error);
  out.error = static_cast<int>(error.ee_errno);
  const bool icmp = error.ee_origin == SO_EE_ORIGIN_ICMP || error.ee_origin == SO_EE_ORIGIN_ICMP6;
  if (!icmp) return;
  SocketAddress by;
  by.length = static_cast<socklen_t>(std::min(length - kOffenderAt, sizeof by.storage));
  std::memcpy(&by.storage, CMSG_DATA(&header) + kOffenderAt, by.length);
  out.by = bulk_address(by);
}

}  // namespace

void udp_errors_keep(int fd, bool ipv4) {
  const int on = 1;
  if (ipv4)
    ::setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
  else
    ::setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
}

bool udp_error_take(int fd, UdpError& out) {
  // The error, and the type of service, which the kernel tells of refused datagrams, too.
  alignas(cmsghdr) std::byte
      control[CMSG_SPACE(sizeof(sock_extended_err) + sizeof(sockaddr_in6)) + CMSG_SPACE(sizeof(int))];
  SocketAddress to;
  iovec piece{out.datagram, sizeof out.datagram};
  msghdr message{};
  message.msg_name = &to.storage;
  message.msg_namelen = sizeof to.storage;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  // This is not recvmsg(), because that is a cancellation point (see tx_batch.cc).
  const long got = ::syscall(SYS_recvmsg, fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
  if (got < 0) return false;
  out.bytes = static_cast<std::size_t>(got);
  out.error = 0;
  out.to = bulk_address(to);
  out.by = {};
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    const bool v4 = header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_RECVERR;
    const bool v6 = header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_RECVERR;
    if (v4 || v6) error_read(*header, out);
  }
  return true;
}

}  // namespace omx::link
