// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <linux/errqueue.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "bench/floors/send_ways.h"

namespace omx::bench {

namespace {

// The kernel's limits: bytes and datagrams of a GSO batch, and pieces of memory of a packet without a copy.
constexpr std::size_t kBatchBytes = 65507, kBatchDatagrams = 64, kPagesMost = 17;
constexpr std::size_t kPage = 4096;

std::size_t pages(const void* start, std::size_t bytes) {
  return (reinterpret_cast<std::uintptr_t>(start) % kPage + bytes + kPage - 1) / kPage;
}

class UdpWay final : public SendWay {
 public:
  UdpWay(bool one_header, bool zerocopy, const SendTarget& target)
      : one_header_(one_header), zerocopy_(zerocopy), frame_(target.frame) {
    fd_ = ::socket(AF_INET, SOCK_DGRAM, 0);
    const int one = 1, buffer = 4 << 20;
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(target.port);
    if (::inet_pton(AF_INET, target.address.c_str(), &to.sin_addr) != 1)
      die(2, "{} is no IPv4 address", target.address);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) < 0)
      die(1, "connect: {}", std::strerror(errno));
    if (zerocopy && ::setsockopt(fd_, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one) < 0)
      die(77, "SO_ZEROCOPY: {}", std::strerror(errno));
  }
  ~UdpWay() override { ::close(fd_); }

  std::size_t send(const std::byte* data, std::size_t bytes) override {
    const std::size_t datagram = frame_ + sizeof(FrameHeader);
    std::size_t taken = 0, count = 0, used = 0;
    iovec pieces[2 * kBatchDatagrams];
    if (one_header_) {
      // Without a copy the kernel takes 17 pages, and the header lies in one of them.
      const std::size_t room = std::min(kBatchBytes, kBatchDatagrams * datagram) - sizeof(FrameHeader);
      taken = std::min(bytes, room);
      if (zerocopy_) taken = std::min(taken, (kPagesMost - 1) * kPage - in_page(data));
      pieces[count++] = {&header(), sizeof(FrameHeader)};
      pieces[count++] = {const_cast<std::byte*>(data), taken};
    } else {
      for (std::size_t total = 0; taken < bytes && count < 2 * kBatchDatagrams; total += datagram) {
        const std::size_t length = std::min(frame_, bytes - taken);
        used += 1 + pages(data + taken, length);
        if (total + datagram > kBatchBytes || (zerocopy_ && used > kPagesMost)) break;
        pieces[count++] = {&header(), sizeof(FrameHeader)};
        pieces[count++] = {const_cast<std::byte*>(data) + taken, length};
        taken += length;
      }
    }
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(std::uint16_t))] = {};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_UDP;
    head->cmsg_type = UDP_SEGMENT;
    head->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
    const auto size = static_cast<std::uint16_t>(datagram);
    std::memcpy(CMSG_DATA(head), &size, sizeof size);
    calls_++;
    if (::sendmsg(fd_, &message, zerocopy_ ? MSG_ZEROCOPY : 0) < 0) {
      if (errno == ENOBUFS && zerocopy_) without_room_++;
      if (errno != ECONNREFUSED) must_retry("sendmsg");
      take_reports();
      return 0;
    }
    if (zerocopy_ && ++since_ == kReportsEvery) {
      since_ = 0;
      take_reports();
    }
    return taken;
  }

  std::string remark() override {
    if (!zerocopy_) return {};
    take_reports();
    return fmt::format("{} sends, {} reported in {} pieces, {} of them copied, {} without room", calls_,
                       reported_, reports_, copied_, without_room_);
  }

 private:
  static constexpr unsigned kReportsEvery = 16;
  static std::size_t in_page(const void* start) { return reinterpret_cast<std::uintptr_t>(start) % kPage; }
  FrameHeader& header() { return headers_[next_++ % headers_.size()]; }

  void take_reports() {
    for (;;) {
      alignas(cmsghdr) char control[128];
      msghdr message{};
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      if (::recvmsg(fd_, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
      for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        sock_extended_err error;
        std::memcpy(&error, CMSG_DATA(head), sizeof error);
        if (error.ee_origin != SO_EE_ORIGIN_ZEROCOPY) continue;
        reports_++;
        reported_ += error.ee_data - error.ee_info + 1;
        if (error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) copied_ += error.ee_data - error.ee_info + 1;
      }
    }
  }

  int fd_ = -1;
  bool one_header_, zerocopy_;
  std::size_t frame_;
  // The kernel reads a header until it has reported the send, so headers are not used again soon.
  alignas(kPage) std::array<FrameHeader, 1024> headers_{};
  std::size_t next_ = 0;
  unsigned since_ = 0;
  std::uint64_t calls_ = 0, reports_ = 0, reported_ = 0, copied_ = 0, without_room_ = 0;
};

}  // namespace

std::unique_ptr<SendWay> udp_way_open(bool one_header, bool zerocopy, const SendTarget& target) {
  return std::make_unique<UdpWay>(one_header, zerocopy, target);
}

}  // namespace omx::bench
