// SPDX-License-Identifier: BSD-3-Clause
// A ring of frames that the kernel sends from (PACKET_TX_RING). Frames are copied into it once, and the
// kernel allocates no memory for them. On a virtual cable it copies them a second time.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "base/fork_guard.h"
#include "base/own_fd.h"

namespace omx::link {

class TxRing {
 public:
  TxRing() = default;
  ~TxRing() { close(); }
  TxRing(const TxRing&) = delete;
  TxRing& operator=(const TxRing&) = delete;

  // Opens a ring for frames of up to `bytes` on the interface to which `like` is bound. Returns false if none
  // can be had.
  bool open(int like, std::size_t bytes);
  void close();
  bool is_open() const { return fd_.open(); }
  // Returns whether frames up to this size fit.
  bool holds(std::size_t bytes) const { return is_open() && bytes <= room_; }
  // Returns whether there is room for so many frames now.
  bool has_room(std::uint32_t frames) const;
  // Queues a frame that fits. There must be room.
  void put(const iovec* pieces, std::size_t count);
  // Hands the queued frames to the kernel. Returns how many it took; if not all, errno says why.
  std::uint32_t send();
  // Takes back the queued frames that the kernel did not take.
  void withdraw();

  // Larger frames would have more pieces than a packet of the kernel.
  static constexpr std::size_t kLargest = 32 << 10;

 private:
  std::byte* slot(std::uint32_t index) const;
  std::uint32_t& status(std::uint32_t index) const;

  OwnFd fd_;
  ForkMark mark_;
  std::byte* memory_ = nullptr;
  std::size_t room_ = 0, slot_bytes_ = 0;
  std::uint32_t slots_ = 0, per_block_ = 0;
  std::uint32_t next_ = 0;    // the slot of the next frame
  std::uint32_t queued_ = 0;  // frames before it that the kernel did not take yet
};

}  // namespace omx::link
