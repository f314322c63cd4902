// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/zerocopy_socket.h"

#include <linux/errqueue.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "link/udp/udp_segment.h"
#include "link/udp/udp_socket.h"
#include "netdev/socket_buffer.h"

namespace omx::link {

namespace {

constexpr int kQueueFullTries = 64;  // as TxBatch's

}  // namespace

ZerocopySocket::~ZerocopySocket() {
  if (pages_) ::munmap(pages_, kPages * page_bytes());
}

bool ZerocopySocket::open(int bulk, const InterfaceAddress& own, std::uint16_t port) {
  const int one = 1;
  fd_ = udp_socket_beside(bulk, own, port);
  if (!fd_.open()) return false;
  const SocketAddress self = socket_address(own.ip, port, own.ifindex);
  // Kernels before 5.0 have MSG_ZEROCOPY for TCP only.
  if (::connect(fd_.get(), self.get(), self.length) < 0 ||
      ::setsockopt(fd_.get(), SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one) < 0) {
    fd_.reset();
    return false;
  }
  send_buffer_set(fd_.get(), kSocketBuffer);
  return true;
}

// Makes the page of the next batch free. Returns false if the kernel still reads it.
bool ZerocopySocket::page_find() {
  if (!pages_) {
    void* const memory = ::mmap(nullptr, kPages * page_bytes(), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) return false;
    pages_ = static_cast<std::byte*>(memory);
  }
  // One read tells of many batches at once. The kernel's memory for unread reports is short.
  if (unreported_ >= kPages / 2) reports_take();
  return !used_[next_ % kPages];
}

bool ZerocopySocket::send(const iovec* pieces, std::size_t count, const PassingMemory& passing,
                          const SocketAddress& to, std::size_t segment) {
  if (!page_find()) return false;
  const std::uint32_t place = next_ % kPages;
  const std::size_t made = count > kPieces ? 0
                                           : zerocopy_lay_out(pieces, count, passing,
                                                              pages_ + place * page_bytes(), pieces_.data());
  if (made == 0) {  // too many pieces
    policy_.refused();
    return false;
  }
  UdpSegment cut;
  msghdr message{};
  message.msg_name = const_cast<sockaddr*>(to.get());
  message.msg_namelen = to.length;
  message.msg_iov = pieces_.data();
  message.msg_iovlen = made;
  cut.attach(message, segment);
  for (int tries = kQueueFullTries; tries > 0;) {
    counters_.send_calls++;
    // This is not sendmsg(), because that is a cancellation point (see tx_batch.cc).
    if (::syscall(SYS_sendmsg, fd_.get(), &message, MSG_DONTWAIT | MSG_ZEROCOPY) >= 0) {
      used_[place] = true;
      next_++;
      unreported_++;
      return true;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) {
      // The kernel's memory for reports (net.core.optmem_max) or the pages that a process may lock (ulimit
      // -l) are used up, or there is no segmentation.
      policy_.refused();
      reports_take();
      return false;
    }
    tries--;
    ::sched_yield();
  }
  return false;
}

void ZerocopySocket::reported(std::uint32_t first, std::uint32_t last, bool copied) {
  const std::uint32_t batches = last - first + 1;
  if (batches == 0 || batches > unreported_) return;
  for (std::uint32_t i = 0; i < batches; i++) used_[(first + i) % kPages] = false;
  unreported_ -= batches;
  if (copied) counters_.zerocopy_copied += batches;
  policy_.reported(batches, copied);
}

void ZerocopySocket::reports_take() {
  while (unreported_ > 0) {
    alignas(cmsghdr) std::byte
        control[CMSG_SPACE(sizeof(sock_extended_err) + sizeof(sockaddr_in6)) + CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    // This is not recvmsg(), because that is a cancellation point (see tx_batch.cc).
    if (::syscall(SYS_recvmsg, fd_.get(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
      const bool v4 = header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_RECVERR;
      const bool v6 = header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_RECVERR;
      if ((!v4 && !v6) || header->cmsg_len < CMSG_LEN(sizeof(sock_extended_err))) continue;
      sock_extended_err error;
      std::memcpy(&error, CMSG_DATA(header), sizeof error);
      if (error.ee_origin == SO_EE_ORIGIN_ZEROCOPY)
        reported(error.ee_info, error.ee_data, error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED);
    }
  }
}

}  // namespace omx::link
