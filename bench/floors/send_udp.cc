// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "bench/floors/send_ways.h"
#include "bench/floors/zerocopy_reports.h"
#include "link/udp/udp_segment.h"

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
    link::UdpSegment cut;
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    cut.attach(message, datagram);
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
    zerocopy_reports_read(fd_, [this](std::uint64_t sends, bool copied) {
      reports_++;
      reported_ += sends;
      if (copied) copied_ += sends;
    });
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
