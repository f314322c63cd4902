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

// Returns the size of each frame in a datagram that the kernel joined from several. Returns `bytes` for a
// datagram that it did not join.
std::size_t segment_of(msghdr& message, std::size_t bytes) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_UDP || header->cmsg_type != UDP_GRO) continue;
    int size = 0;
    std::memcpy(&size, CMSG_DATA(header), sizeof size);
    if (size > 0) return static_cast<std::size_t>(size);
  }
  return bytes;
}

}  // namespace

std::optional<UdpArrival> datagram_receive(int fd, iovec* pieces, std::size_t count,
                                           const wire::BulkAddress* from) {
  alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(int))];
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
  datagram.segment = segment_of(message, datagram.bytes);
  datagram.cut = message.msg_flags & MSG_TRUNC;
  datagram.from = from ? *from : bulk_address(*told);
  return datagram;
}

bool UdpDatagram::receive_lone(int fd, const wire::BulkAddress& from) {
  if (!memory_) memory_.reset(new std::byte[kDatagramMost]);
  const long got = ::syscall(SYS_recvfrom, fd, memory_.get(), kDatagramMost, MSG_DONTWAIT, nullptr, nullptr);
  if (got < 0) return false;
  datagram_.bytes = datagram_.segment = static_cast<std::size_t>(got);
  datagram_.cut = false;
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
