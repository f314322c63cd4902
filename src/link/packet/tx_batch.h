// SPDX-License-Identifier: BSD-3-Clause
// Collects frames for a packet socket in slots, and sends them with one system call. All memory is taken at
// construction.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/own_fd.h"
#include "link/link_counters.h"
#include "link/packet/tx_ring.h"
#include "link/packet/zerocopy_policy.h"
#include "wire/frame_io.h"

namespace omx::link {

// Payload pieces of one frame. The kernel's limit is 1024 pieces.
inline constexpr std::uint32_t kMaxSegments = 512;

// The struct virtio_net_hdr of linux/virtio_net.h, which C++ cannot read.
struct FrameLayout {
  std::uint8_t flags = 0, gso_type = 0;
  std::uint16_t header_length = 0;  // of the header, which is kept apart from the data
  std::uint16_t gso_size = 0, csum_start = 0, csum_offset = 0;
};
static_assert(sizeof(FrameLayout) == 10);

class TxBatch {
 public:
  // `counters` must outlive the batch. `frames` is the size of a batch, at least 1. `ring` says when large
  // frames are sent from a ring that the kernel shares. `own` says that this process made the socket of
  // flush(), and so may make others on its interface. A granted socket may be of another network namespace,
  // where the interface's index means another one.
  TxBatch(std::uint32_t frames, ZerocopyMode ring, bool own, LinkCounters& counters);

  wire::TxFrame& begin(int fd, std::uint32_t max_segments);
  void commit();
  void flush(int fd);
  // Sends a frame at once, without a slot (FrameSink::send_now). Returns false if frames are queued or the
  // kernel did not take it.
  bool send_now(int fd, const std::byte* bytes, std::size_t length);
  std::uint32_t queued() const { return count_; }

 private:
  // Returns whether the batch goes by the aligned socket. If so, puts the layout that this socket wants
  // before each frame.
  bool align(int fd);
  // Sends frames of the batch from `first` on with one system call. Returns how many the kernel took, or -1
  // with errno.
  int send_from(int fd, std::uint32_t first);
  // Sends a batch of one frame of one piece, the usual one. Returns false if it is another batch, or the
  // kernel did not take it.
  bool send_lone(int fd);
  bool send_piece(int fd, const void* bytes, std::size_t length);
  // Sends the batch by system calls that take the frames from our memory.
  void send_by_calls(int fd);
  // Sends the batch from the ring. Returns false, and sends nothing, where that is impossible now.
  bool send_by_ring(int fd);
  bool ring_ready(int fd);
  void send_large(int fd);
  void count_sent(std::uint32_t first, std::uint32_t count);
  void reset() {
    count_ = 0;
    pieces_used_ = 0;
    longest_ = 0;
  }

  std::uint32_t capacity_;
  std::uint32_t pieces_capacity_;
  std::uint32_t count_ = 0;        // frames committed
  std::uint32_t pieces_used_ = 0;  // of committed frames
  std::size_t longest_ = 0;        // longest committed frame
  LinkCounters& counters_;
  bool own_;
  // Sends large frames so that their data lie aligned in the kernel's memory. Opened when first needed.
  OwnFd aligned_;
  bool aligned_tried_ = false;
  TxRing ring_;                          // opened when first needed
  std::size_t ring_refused_ = SIZE_MAX;  // no ring for frames of this size, or larger ones, can be had
  ZerocopyPolicy ring_policy_;
  std::unique_ptr<FrameLayout[]> layouts_;
  std::unique_ptr<wire::TxFrame[]> frames_;
  std::unique_ptr<iovec[]> pieces_;  // per frame: room for its layout, its header, then its segments
  std::unique_ptr<std::byte[]> contiguous_;
  std::unique_ptr<mmsghdr[]> messages_;
};

}  // namespace omx::link
