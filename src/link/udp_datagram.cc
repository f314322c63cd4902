// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp_datagram.h"

#include <netinet/udp.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "link/udp_address.h"

namespace omx::link {

namespace {

// The size of the frames in a datagram that the kernel put together; of the datagram, if it did not.
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

std::optional<Datagram> datagram_receive(int fd, iovec* pieces, std::size_t count) {
  alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(int))];
  SocketAddress from;
  msghdr message{};
  message.msg_name = &from.storage;
  message.msg_namelen = sizeof from.storage;
  message.msg_iov = pieces;
  message.msg_iovlen = count;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  // Not recvmsg(), which is a cancellation point (see tx_batch.cc).
  const long got = ::syscall(SYS_recvmsg, fd, &message, MSG_DONTWAIT);
  if (got < 0) return std::nullopt;
  Datagram datagram;
  datagram.bytes = static_cast<std::size_t>(got);
  datagram.segment = segment_of(message, datagram.bytes);
  datagram.cut = message.msg_flags & MSG_TRUNC;
  datagram.from = lane_address(from);
  return datagram;
}

bool UdpDatagram::receive(int fd) {
  if (!memory_) memory_.reset(new std::byte[kDatagramMost]);
  iovec piece{memory_.get(), kDatagramMost};
  const auto datagram = datagram_receive(fd, &piece, 1);
  if (datagram) datagram_ = *datagram;
  return datagram.has_value();
}

}  // namespace omx::link
