// SPDX-License-Identifier: BSD-3-Clause
#include "link/packet/tx_batch.h"

#include <linux/if_packet.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "link/packet/packet_socket.h"
#include "link/packet/pieces.h"
#include "netdev/socket_buffer.h"
#include "wire/packets.h"

namespace omx::link {

namespace {

// Frames of at least this size are sent so that their data lie aligned in the kernel's memory. The kernel
// puts what follows the Ethernet header at the beginning of a page. Data behind our header would be copied
// from aligned to odd addresses. That took 10.6 instead of 7.3 us for 64 KiB, and 3.1 instead of 2.9 for 8.9
// KB (veth, Linux 6.18, AMD EPYC). A socket with PACKET_VNET_HDR says where the header ends.
constexpr std::size_t kAlignedBytes = 8192;

// Tries per flush while the queue is full. One try takes about a microsecond. Frames that do not leave
// within some tens of them are dropped, and the protocol's retransmission slows down the sender.
constexpr int kQueueFullTries = 64;

// A single frame up to this size is made contiguous first. Copying 2 KiB and send() took 1.28 us where
// sendmsg() with two pieces took 1.38 us. At 4 KiB it was 1.73 against 1.79 us, and no gain at 9 KB (veth,
// Linux 6.18). In a batch, sendmmsg() reads a message structure for each frame anyway.
constexpr std::size_t kContiguousBytes = 4096;

// A batch of at least so many frames, the longest of this size, may be sent from the ring. With frames of
// 1,400 bytes the ring was slower with two of three drivers (bench/floors/send_floor.cc).
constexpr std::uint32_t kRingFrames = 4;
constexpr std::size_t kRingBytes = 4096;

// Room for frames of many pieces without a flush at every frame.
constexpr std::uint32_t kPiecesPerFrame = 4;

OwnFd aligned_open(int like) {
  sockaddr_ll address{};
  socklen_t length = sizeof address;
  OwnFd fd = packet_socket_new();
  const int one = 1;
  if (!fd.open() || ::getsockname(like, reinterpret_cast<sockaddr*>(&address), &length) < 0 ||
      ::setsockopt(fd.get(), SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) < 0)
    return {};
  address.sll_protocol = 0;  // it receives nothing
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) return {};
  send_buffer_set(fd.get(), kSocketBuffer);
  return fd;
}

std::size_t message_bytes(const msghdr& message) {
  return pieces_bytes(message.msg_iov, message.msg_iovlen);
}

}  // namespace

TxBatch::TxBatch(std::uint32_t frames, ZerocopyMode ring, bool own, LinkCounters& counters)
    : capacity_(std::max(frames, 1U)),
      pieces_capacity_(capacity_ * (kPiecesPerFrame + 1) + 2 * (kMaxSegments + 2)),
      counters_(counters),
      own_(own),
      ring_policy_(ring),
      layouts_(new FrameLayout[capacity_]),
      frames_(new wire::TxFrame[capacity_]),
      pieces_(new iovec[pieces_capacity_]),
      contiguous_(new std::byte[kContiguousBytes]),
      messages_(new mmsghdr[capacity_]()) {}

wire::TxFrame& TxBatch::begin(int fd, std::uint32_t max_segments) {
  assert(max_segments <= kMaxSegments);
  if (count_ == capacity_ || pieces_used_ + 2 + max_segments > pieces_capacity_) flush(fd);
  wire::TxFrame& frame = frames_[count_];
  frame.header_length = 0;
  frame.segment_count = 0;
  frame.segments = &pieces_[pieces_used_ + 2];
  return frame;
}

void TxBatch::commit() {
  assert(count_ < capacity_);
  wire::TxFrame& frame = frames_[count_];
  assert(frame.header_length >= wire::kHeadBytes);
  assert(frame.header_length <= wire::kHeaderCapacity);
  iovec* pieces = &pieces_[pieces_used_ + 1];
  pieces[0] = iovec{frame.header, frame.header_length};
  msghdr& message = messages_[count_].msg_hdr;
  message.msg_iov = pieces;
  message.msg_iovlen = 1 + frame.segment_count;
  const std::size_t length = frame.segment_count == 0 ? frame.header_length : message_bytes(message);
  if (length < wire::kMinFrame) {
    // The pieces are copied behind the header, and padded with zeros.
    pieces_gather(pieces + 1, frame.segment_count, frame.header + frame.header_length);
    std::memset(frame.header + length, 0, wire::kMinFrame - length);
    pieces[0].iov_len = wire::kMinFrame;
    message.msg_iovlen = 1;
  }
  longest_ = std::max(longest_, length);
  pieces_used_ += static_cast<std::uint32_t>(message.msg_iovlen) + 1;
  count_++;
}

bool TxBatch::align(int fd) {
  if (longest_ < kAlignedBytes || !own_) return false;
  if (!aligned_tried_) aligned_ = aligned_open(fd);
  aligned_tried_ = true;
  if (!aligned_.open()) return false;
  for (std::uint32_t i = 0; i < count_; i++) {
    msghdr& message = messages_[i].msg_hdr;
    layouts_[i].header_length = static_cast<std::uint16_t>(message.msg_iov->iov_len);
    *--message.msg_iov = {&layouts_[i], sizeof layouts_[i]};
    message.msg_iovlen++;
  }
  return true;
}

// Sends without the C library's functions, which are cancellation points. A thread that is cancelled in one
// would leave the endpoint's lock held.
int TxBatch::send_from(int fd, std::uint32_t first) {
  counters_.send_calls++;
  if (count_ - first > 1) {
    return static_cast<int>(::syscall(SYS_sendmmsg, fd, &messages_[first], count_ - first, MSG_DONTWAIT));
  }
  const msghdr& message = messages_[first].msg_hdr;
  const std::byte* start = static_cast<const std::byte*>(message.msg_iov->iov_base);
  const std::size_t length = message_bytes(message);
  if (message.msg_iovlen > 1) {
    if (length > kContiguousBytes || fd == aligned_.get())
      return ::syscall(SYS_sendmsg, fd, &message, MSG_DONTWAIT) < 0 ? -1 : 1;
    pieces_gather(message.msg_iov, message.msg_iovlen, contiguous_.get());
    start = contiguous_.get();
  }
  return ::syscall(SYS_sendto, fd, start, length, MSG_DONTWAIT, nullptr, 0) < 0 ? -1 : 1;
}

void TxBatch::count_sent(std::uint32_t first, std::uint32_t count) {
  counters_.frames_sent += count;
  for (std::uint32_t i = first; i < first + count; i++) {
    const msghdr& message = messages_[i].msg_hdr;
    const bool aligned = message.msg_iov->iov_base == &layouts_[i];
    counters_.bytes_sent += message_bytes(message) - (aligned ? sizeof layouts_[i] : 0);
  }
}

bool TxBatch::send_lone(int fd) {
  const msghdr& message = messages_[0].msg_hdr;
  if (count_ != 1 || message.msg_iovlen != 1 || longest_ >= kAlignedBytes) return false;
  return send_piece(fd, message.msg_iov->iov_base, message.msg_iov->iov_len);
}

bool TxBatch::send_now(int fd, const std::byte* bytes, std::size_t length) {
  return count_ == 0 && send_piece(fd, bytes, std::max(length, wire::kMinFrame));
}

bool TxBatch::send_piece(int fd, const void* bytes, std::size_t length) {
  counters_.send_calls++;
  if (::syscall(SYS_sendto, fd, bytes, length, MSG_DONTWAIT, nullptr, 0) < 0) return false;
  counters_.frames_sent++;
  counters_.bytes_sent += length;
  return true;
}

bool TxBatch::ring_ready(int fd) {
  if (!own_ || longest_ >= ring_refused_) return false;
  if (ring_.holds(longest_) || ring_.open(fd, longest_)) return true;
  ring_refused_ = longest_;
  return false;
}

bool TxBatch::send_by_ring(int fd) {
  if (!ring_ready(fd)) {
    ring_policy_.refused();
    return false;
  }
  if (!ring_.has_room(count_)) return false;
  for (std::uint32_t i = 0; i < count_; i++)
    ring_.put(messages_[i].msg_hdr.msg_iov, messages_[i].msg_hdr.msg_iovlen);
  std::uint32_t done = 0;
  bool full = true;
  for (int tries = kQueueFullTries; tries > 0 && full; tries--) {
    counters_.send_calls++;
    const std::uint32_t sent = ring_.send();
    count_sent(done, sent);
    counters_.ring_frames_sent += sent;
    done += sent;
    if (done == count_) return true;
    full = errno == EAGAIN || errno == ENOBUFS || errno == EINTR;
    if (full) ::sched_yield();
  }
  ring_.withdraw();
  // The interface is down, or another one has its name. The next batch opens a ring where `fd` is.
  if (!full) ring_.close();
  if (done == 0 && !full) return false;
  counters_.send_errors += count_ - done;
  return true;
}

// Sends by the ring or without, whichever is cheaper.
void TxBatch::send_large(int fd) {
  const bool measures = ring_policy_.measures();
  const TimeNs before = measures ? clock_now() : 0;
  const std::uint64_t calls = counters_.send_calls, bytes = counters_.bytes_sent;
  const bool by_ring = ring_policy_.wants() && send_by_ring(fd);
  if (!by_ring) send_by_calls(fd);
  // A batch that waited for room in a queue took that queue's time.
  if (counters_.send_calls == calls + 1)
    ring_policy_.sent(by_ring, counters_.bytes_sent - bytes, measures ? clock_now() - before : 0);
}

void TxBatch::flush(int fd) {
  if (count_ == 0) return;
  if (send_lone(fd)) return reset();
  if (count_ >= kRingFrames && longest_ >= kRingBytes)
    send_large(fd);
  else
    send_by_calls(fd);
  reset();
}

void TxBatch::send_by_calls(int fd) {
  const bool aligned = align(fd);
  if (aligned) fd = aligned_.get();
  std::uint32_t done = 0;
  int tries = kQueueFullTries;
  bool down_seen = false;
  while (done < count_) {
    const int sent = send_from(fd, done);
    if (sent > 0) {
      count_sent(done, static_cast<std::uint32_t>(sent));
      done += static_cast<std::uint32_t>(sent);
      continue;
    }
    std::uint32_t dropped = 1;  // only this frame: it is too long or its memory is gone
    switch (errno) {
      case EINTR:
        continue;
      case EAGAIN:   // socket buffer full
      case ENOBUFS:  // transmit queue full
        if (--tries > 0) {
          ::sched_yield();
          continue;
        }
        dropped = count_ - done;
        break;
      case ENETDOWN:
        // The error may come from an outage that is over, because the kernel reports it once.
        if (!down_seen) {
          down_seen = true;
          continue;
        }
        [[fallthrough]];
      case ENXIO:
      case ENODEV:
        // Another interface may have the name now. The next batch opens a socket there.
        if (aligned) aligned_tried_ = false;
        dropped = count_ - done;
        break;
      default:
        break;
    }
    counters_.send_errors += dropped;
    done += dropped;
  }
}

}  // namespace omx::link
