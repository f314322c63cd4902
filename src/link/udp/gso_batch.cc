// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/gso_batch.h"

#include <netinet/udp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "link/packet/pieces.h"
#include "link/packet/tx_batch.h"
#include "link/udp/udp_segment.h"
#include "link/udp/zerocopy_socket.h"
#include "wire/packets.h"

namespace omx::link {

namespace {

constexpr int kQueueFullTries = 64;  // as TxBatch's
constexpr std::size_t kFrames = wire::kGsoBatchFrames;
constexpr std::size_t kPiecesMost = 1024;  // the kernel's limit per call
constexpr std::size_t kPieces = kPiecesMost + kMaxSegments + 1;
// A single frame up to this size is made contiguous first, as TxBatch does. sendto() took 3.55 us where
// sendmsg() with two pieces took 3.72 us (64 bytes, veth, Linux 6.18, AMD EPYC).
constexpr std::size_t kContiguousBytes = 4096;
// Shorter batches are always copied. Reports and the work on pages cost about as much as a copy of 10 KB.
constexpr std::size_t kZerocopyBytes = 16 << 10;

}  // namespace

struct GsoBatch::Memory {
  wire::TxFrame frames[kFrames];
  iovec pieces[kPieces];  // per frame: its header, then its segments
  std::uint32_t piece_counts[kFrames];
  std::byte contiguous[kContiguousBytes];
};

GsoBatch::GsoBatch(LinkCounters& counters) : counters_(counters), memory_(std::make_unique<Memory>()) {}
GsoBatch::~GsoBatch() = default;

wire::TxFrame& GsoBatch::begin(int fd, std::uint32_t max_segments) {
  assert(max_segments <= kMaxSegments);
  if (count_ == kFrames || pieces_ + 1 + max_segments > kPieces) flush(fd);
  wire::TxFrame& frame = memory_->frames[count_];
  frame.header_length = 0;
  frame.segment_count = 0;
  frame.alone = frame.lasting = false;
  frame.cut = 0;
  frame.segments = &memory_->pieces[pieces_ + 1];
  return frame;
}

bool GsoBatch::joins(const wire::BulkAddress& to, std::size_t length) const {
  return !complete_ && to_ == to && length <= size_ && bytes_ + length <= wire::kGsoBatchBytes;
}

// Makes `frame` the first of a new GSO batch, because it does not belong to the batch that just left. Some
// of its pieces lie in the frame itself.
void GsoBatch::frame_to_front(const wire::TxFrame& frame, const iovec* pieces, std::size_t count) {
  wire::TxFrame& front = memory_->frames[0];
  std::memcpy(front.header, frame.header, sizeof front.header);
  front.alone = frame.alone;
  front.lasting = frame.lasting;
  front.cut = frame.cut;
  for (std::size_t i = 0; i < count; i++) {
    iovec piece = pieces[i];
    const auto* base = static_cast<const std::byte*>(piece.iov_base);
    if (base >= frame.header && base < frame.header + sizeof frame.header)
      piece.iov_base = front.header + (base - frame.header);
    memory_->pieces[i] = piece;
  }
}

void GsoBatch::commit(int fd, const wire::BulkAddress& to, std::uint32_t ifindex) {
  Memory& m = *memory_;
  wire::TxFrame& frame = m.frames[count_];
  assert(frame.header_length >= wire::kHeadBytes && frame.header_length <= wire::kHeaderCapacity);
  iovec* own = &m.pieces[pieces_];
  own[0] = {frame.header, frame.header_length};
  const std::size_t count = std::size_t{1} + frame.segment_count;
  const std::size_t length = pieces_bytes(own, count);
  if (count_ > 0 && (frame.alone || frame.cut > 0 || !joins(to, length) || pieces_ + count > kPiecesMost)) {
    flush(fd);
    frame_to_front(frame, own, count);
  }
  if (count_ == 0) {
    to_ = to;
    ifindex_ = ifindex;
    size_ = length;
    complete_ = m.frames[0].alone || m.frames[0].cut > 0;
  } else {
    complete_ = length < size_;
  }
  m.piece_counts[count_] = static_cast<std::uint32_t>(count);
  count_++;
  pieces_ += count;
  bytes_ += length;
}

// Sends by a call that returns less than 0 and sets errno when it fails. Returns false, with errno set, when
// nothing was sent.
template <class Call>
bool GsoBatch::send_by(Call call) {
  bool again = true;
  for (int tries = kQueueFullTries; tries > 0;) {
    counters_.send_calls++;
    if (call() >= 0) return true;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != ENOBUFS) {
      // The error may be about any earlier datagram (udp_errors.h). The kernel then reports it only once.
      error_told_ = true;
      if (!again) return false;
      again = false;
      continue;
    }
    tries--;
    ::sched_yield();
  }
  return false;
}

// Sends one datagram, or one for each `segment` bytes. Returns false, with errno set, when nothing was sent.
bool GsoBatch::send(int fd, std::size_t first_piece, std::size_t pieces, std::size_t segment) {
  std::optional<SocketAddress> to;
  UdpSegment cut;
  msghdr message{};
  if (by_connected()) {
    fd = connected_fd_;
  } else {
    to = socket_address(to_.ip, to_.port, ifindex_);
    message.msg_name = &to->storage;
    message.msg_namelen = to->length;
  }
  message.msg_iov = &memory_->pieces[first_piece];
  message.msg_iovlen = pieces;
  if (segment > 0) cut.attach(message, segment);
  // This is not sendmsg(), because that is a cancellation point (see tx_batch.cc).
  return send_by([&] { return ::syscall(SYS_sendmsg, fd, &message, MSG_DONTWAIT); });
}

// Sends one datagram of `bytes`.
bool GsoBatch::send_one(int fd, std::size_t first_piece, std::size_t pieces, std::size_t bytes) {
  const iovec* const piece = &memory_->pieces[first_piece];
  const void* start = piece->iov_base;
  if (pieces > 1) {
    if (bytes > kContiguousBytes) return send(fd, first_piece, pieces, 0);
    pieces_gather(piece, pieces, memory_->contiguous);
    start = memory_->contiguous;
  }
  if (by_connected()) {
    return send_by(
        [&] { return ::syscall(SYS_sendto, connected_fd_, start, bytes, MSG_DONTWAIT, nullptr, 0); });
  }
  const SocketAddress to = socket_address(to_.ip, to_.port, ifindex_);
  return send_by([&] { return ::syscall(SYS_sendto, fd, start, bytes, MSG_DONTWAIT, to.get(), to.length); });
}

void GsoBatch::send_singly(int fd) {
  std::size_t piece = 0;
  for (std::size_t i = 0; i < count_; i++) {
    const std::size_t count = memory_->piece_counts[i];
    const std::size_t bytes = pieces_bytes(&memory_->pieces[piece], count);
    if (send_one(fd, piece, count, bytes)) {
      counters_.frames_sent++;
      counters_.bytes_sent += bytes;
      failure_ = 0;
    } else {
      counters_.send_errors++;
      failure_ = errno;
      failed_to_ = to_;
    }
    piece += count;
  }
}

// Sends a GSO frame without a copy, if that is cheaper and possible.
bool GsoBatch::send_lasting(int fd, std::size_t segment) {
  Memory& m = *memory_;
  ZerocopyPolicy& policy = zerocopy_->policy();
  if (bytes_ < kZerocopyBytes) return send(fd, 0, pieces_, segment);
  if (policy.measures()) zerocopy_->reports_take();  // a trial ends early where the kernel copies
  const std::uint64_t calls = counters_.send_calls;
  const TimeNs before = policy.measures() ? clock_now() : 0;
  const PassingMemory frames{reinterpret_cast<const std::byte*>(m.frames), sizeof m.frames};
  const bool without = policy.wants() && zerocopy_->send(m.pieces, pieces_, frames,
                                                         socket_address(to_.ip, to_.port, ifindex_), segment);
  if (without) {
    counters_.zerocopy_batches++;
    counters_.zerocopy_bytes += bytes_;
  } else if (!send(fd, 0, pieces_, segment)) {
    return false;
  }
  // A batch that waited for room in a queue took that queue's time.
  if (counters_.send_calls == calls + 1) policy.sent(without, bytes_, before ? clock_now() - before : 0);
  return true;
}

// Sends a GSO frame. Where that is impossible, its beginning goes alone, which tells the receiver.
void GsoBatch::send_whole(int fd) {
  Memory& m = *memory_;
  if (segmentation_) {
    if ((zerocopy_ && m.frames[0].lasting) ? send_lasting(fd, m.frames[0].cut)
                                           : send(fd, 0, pieces_, m.frames[0].cut)) {
      counters_.frames_sent++;
      counters_.bytes_sent += bytes_;
      counters_.gso_batches_sent++;
      return;
    }
    if (errno == EAGAIN || errno == ENOBUFS) {
      counters_.send_errors++;
      return;
    }
    if (errno == EIO || errno == EOPNOTSUPP || errno == ENOPROTOOPT) segmentation_ = false;
  }
  const std::size_t room = std::min<std::size_t>(m.frames[0].cut, kContiguousBytes);
  const std::size_t bytes = pieces_read(m.pieces, pieces_, 0, room, m.contiguous);
  m.pieces[0] = {m.contiguous, bytes};
  if (!send(fd, 0, 1, 0)) counters_.send_errors++;
}

void GsoBatch::send_all(int fd) {
  if (const std::uint32_t cut = memory_->frames[0].cut; cut > 0 && bytes_ > cut) {
    send_whole(fd);
  } else if (count_ == 1 || !segmentation_) {
    send_singly(fd);
  } else if (send(fd, 0, pieces_, size_)) {
    counters_.frames_sent += count_;
    counters_.bytes_sent += bytes_;
    counters_.gso_batches_sent++;
  } else if (errno == EAGAIN || errno == ENOBUFS) {
    counters_.send_errors += count_;
  } else {
    // The interface computes no checksums, the kernel is older than 4.18, or the MTU shrank.
    if (errno == EIO || errno == EOPNOTSUPP || errno == ENOPROTOOPT) segmentation_ = false;
    send_singly(fd);
  }
  count_ = pieces_ = bytes_ = size_ = 0;
  complete_ = false;
}

}  // namespace omx::link
