// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_datagram.h"

#include <netinet/udp.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "link/udp/udp_address.h"

namespace omx::link {

namespace {

// The two ECN bits of an IP header, both set by a queue that grows (RFC 3168).
constexpr int kEcnBits = 3;

// Returns the value of a control message, which has one byte for IPv4's type of service.
int value_of(const cmsghdr& header) {
  if (header.cmsg_len < CMSG_LEN(sizeof(int)))
    return std::to_integer<int>(*reinterpret_cast<const std::byte*>(CMSG_DATA(&header)));
  int value = 0;
  std::memcpy(&value, CMSG_DATA(&header), sizeof value);
  return value;
}

// Takes what the kernel says of a datagram: the size of each frame if it joined several, and a mark.
void control_take(msghdr& message, UdpArrival& datagram) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    const int value = value_of(*header);
    if (header->cmsg_level == SOL_UDP && header->cmsg_type == UDP_GRO) {
      if (value > 0) datagram.segment = static_cast<std::size_t>(value);
    } else if ((header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_TOS) ||
               (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_TCLASS)) {
      datagram.marked = (value & kEcnBits) == kEcnBits;
    }
  }
}

}  // namespace

std::optional<UdpArrival> datagram_receive(int fd, iovec* pieces, std::size_t count,
                                           const wire::BulkAddress* from) {
  alignas(cmsghdr) std::byte control[2 * CMSG_SPACE(sizeof(int))];
  std::optional<SocketAddress> told;
  msghdr message{};
  if (!from) {
    message.msg_name = &told.emplace().storage;
    message.msg_namelen = sizeof told->storage;
  }
  message.msg_iov = pieces;
  message.msg_iovlen = count;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  // This is not recvmsg(), because that is a cancellation point (see tx_batch.cc).
  const long got = ::syscall(SYS_recvmsg, fd, &message, MSG_DONTWAIT);
  if (got < 0) return std::nullopt;
  UdpArrival datagram;
  datagram.bytes = static_cast<std::size_t>(got);
  datagram.segment = datagram.bytes;  // unless the kernel joined several
  control_take(message, datagram);
  datagram.cut = message.msg_flags & MSG_TRUNC;
  datagram.from = from ? *from : bulk_address(*told);
  return datagram;
}

bool UdpDatagram::receive_lone(int fd, const wire::BulkAddress& from) {
  if (!memory_) memory_.reset(new std::byte[kDatagramMost]);
  const long got = ::syscall(SYS_recvfrom, fd, memory_.get(), kDatagramMost, MSG_DONTWAIT, nullptr, nullptr);
  if (got < 0) return false;
  datagram_.bytes = datagram_.segment = static_cast<std::size_t>(got);
  datagram_.cut = datagram_.marked = false;
  datagram_.from = from;
  return true;
}

bool UdpDatagram::receive(int fd, const wire::BulkAddress* from) {
  if (!memory_) memory_.reset(new std::byte[kDatagramMost]);
  iovec piece{memory_.get(), kDatagramMost};
  const auto datagram = datagram_receive(fd, &piece, 1, from);
  if (datagram) datagram_ = *datagram;
  return datagram.has_value();
}

}  // namespace omx::link
