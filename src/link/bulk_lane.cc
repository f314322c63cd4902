// SPDX-License-Identifier: BSD-3-Clause
#include "link/bulk_lane.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "link/packet_filter.h"
#include "link/packet_socket.h"
#include "wire/packets.h"

namespace omx::link {

namespace {

// The pull window of a few messages, charged by the kernel at up to twice its size.
constexpr int kWanted = 32 << 20;
constexpr int kLeast = 6 << 20;

int receive_buffer(int fd) {
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kWanted, sizeof kWanted);
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kWanted, sizeof kWanted);
  int bytes = 0;
  socklen_t length = sizeof bytes;
  ::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
  return bytes;
}

}  // namespace

bool BulkLane::open(std::uint32_t ifindex, std::uint8_t endpoint, std::uint32_t mtu) {
  OwnFd socket = packet_socket_new();
  if (!socket.open()) return false;
  const int fd = socket.get();
  FilterRule rule;
  rule.endpoint = endpoint;
  rule.board_frames = false;
  rule.lane = Lane::bulk;
  if (receive_buffer(fd) < kLeast || packet_filter_attach(fd, packet_filter_build(rule)) != 0 ||
      packet_socket_bind(fd, ifindex) != 0) {
    return false;
  }
  fd_ = std::move(socket);
  fit(mtu);
  if (!memory_) fd_.reset();
  return fd_.open();
}

void BulkLane::fit(std::uint32_t mtu) {
  // One byte more than a frame, so that a cut one is noticed; cache lines of their own.
  const std::size_t slot = (mtu + wire::kEthernetHeader + 1 + 63) & ~std::size_t{63};
  if (!fd_.open() || slot <= slot_) return;
  std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[slot * kBatch]);
  if (!batch_) batch_.reset(new (std::nothrow) Batch);
  if (!memory || !batch_) return;
  memory_ = std::move(memory);
  slot_ = slot;
  for (std::size_t i = 0; i < kBatch; i++) {
    batch_->places[i] = {memory_.get() + i * slot_, slot_};
    batch_->messages[i] = {};
    batch_->messages[i].msg_hdr.msg_iov = &batch_->places[i];
    batch_->messages[i].msg_hdr.msg_iovlen = 1;
  }
}

std::size_t BulkLane::receive(FrameHandler& handler, std::size_t budget, LinkCounters& counters) {
  std::size_t frames = 0;
  while (frames < budget) {
    // Not recvmmsg(), which is a cancellation point (see tx_batch.cc).
    const long got = ::syscall(SYS_recvmmsg, fd_.get(), batch_->messages, kBatch, MSG_DONTWAIT, nullptr);
    if (got <= 0) break;
    for (long i = 0; i < got; i++) {
      const msghdr& message = batch_->messages[i].msg_hdr;
      const std::size_t length = batch_->messages[i].msg_len;
      if (message.msg_flags & MSG_TRUNC) {
        counters.frames_ignored++;  // the MTU grew, and refresh() has not seen it yet
        continue;
      }
      counters.bytes_received += length;
      handler.on_frame({static_cast<const std::byte*>(batch_->places[i].iov_base), length});
    }
    counters.frames_received += static_cast<std::size_t>(got);
    counters.receive_batches++;
    frames += static_cast<std::size_t>(got);
    if (got < static_cast<int>(kBatch)) break;
  }
  return frames;
}

}  // namespace omx::link
