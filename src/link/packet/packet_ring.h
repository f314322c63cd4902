// SPDX-License-Identifier: BSD-3-Clause
// The memory-mapped receive ring of a packet socket (TPACKET_V2). It is not V3, because V3 hands over blocks
// of frames after a timeout. A sniffer gains throughput by that, but messages would wait for milliseconds.
//
// The kernel fills slots in order and sets TP_STATUS_USER; we read them in order and set TP_STATUS_KERNEL.
// The status word is the only thing that both sides write. Acquire on our load makes the frame visible.
// Release on our store makes sure that we have finished reading it.
#pragma once

#include <linux/if_packet.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fork_guard.h"

namespace omx::link {

struct RingGeometry {
  std::uint32_t slot_bytes = 0;
  std::uint32_t block_bytes = 0;
  std::uint32_t blocks = 0;
  std::uint32_t slots_per_block = 0;
  std::uint32_t slots() const { return blocks * slots_per_block; }
  std::size_t bytes() const { return std::size_t{block_bytes} * blocks; }
  // Returns whether a ring of this geometry serves a caller that wants `wanted`.
  bool serves(const RingGeometry& wanted) const {
    return slot_bytes >= wanted.slot_bytes && blocks > 0 && slots() >= wanted.slots() &&
           bytes() <= std::size_t{4} * wanted.bytes() &&
           std::uint64_t{slot_bytes} * slots_per_block <= block_bytes;
  }
};

inline constexpr std::uint32_t kRingMinSlots = 64;

// Returns a geometry with slots large enough for every frame of an interface with this MTU. The ring stays
// within `bytes`, except that it never has fewer than kRingMinSlots slots.
RingGeometry ring_geometry(std::uint32_t mtu, std::uint32_t slots, std::uint32_t bytes);

class PacketRing {
 public:
  PacketRing() = default;
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;
  ~PacketRing() { unmap(); }

  // Prepares a socket for a ring, once, before map(). Returns 0 or errno.
  static int prepare(int fd);
  // Requests a ring without mapping it. Returns 0 or errno (ENOMEM: try a smaller one).
  static int request(int fd, const RingGeometry& geometry);
  // Requests a ring and maps it. Returns 0 or errno.
  int map(int fd, const RingGeometry& geometry);
  // Maps a ring that was requested and never used. Returns 0 or errno.
  int attach(int fd, const RingGeometry& geometry);
  // Maps a ring that another process may have used, and finds its next slot. Frames in it are lost. The
  // socket must drop all frames. Returns 0 or errno.
  int adopt(int fd, const RingGeometry& geometry);
  // Only unmaps the ring.
  void forget() { unmap(); }
  // Gives the ring back to the kernel; frames in it are lost. Returns 0 or errno.
  int release(int fd);

  bool mapped() const { return base_ != nullptr; }
  const RingGeometry& geometry() const { return geometry_; }

  // Returns the oldest received frame that was not taken yet, or nullptr. Valid until advance().
  const tpacket2_hdr* front() const {
    if (held_ == geometry_.slots()) return nullptr;  // the slot still holds an old frame
    const auto* header = reinterpret_cast<const tpacket2_hdr*>(cursor_.slot);
    return __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER ? header : nullptr;
  }
  // The frame of a slot, and its length before it was cut. The frame is empty when it does not lie in the
  // slot. Each field is read once. Another process may have used this ring before, and may write anything
  // into it.
  struct Seen {
    std::span<const std::byte> frame;
    std::uint32_t length = 0;
  };
  Seen seen(const tpacket2_hdr* header) const {
    const std::uint32_t at = __atomic_load_n(&header->tp_mac, __ATOMIC_RELAXED);
    const std::uint32_t captured = __atomic_load_n(&header->tp_snaplen, __ATOMIC_RELAXED);
    const std::uint32_t length = __atomic_load_n(&header->tp_len, __ATOMIC_RELAXED);
    if (at > geometry_.slot_bytes || captured > geometry_.slot_bytes - at) [[unlikely]]
      return {};
    return {{reinterpret_cast<const std::byte*>(header) + at, captured}, length};
  }
  // Starts to load the status of the next slot, which the kernel wrote on another core.
  void prefetch_next() const { __builtin_prefetch(cursor_.slot + geometry_.slot_bytes); }
  // Gives the front slot back to the kernel.
  void advance() {
    if (held_ > 0) [[unlikely]]
      return hold(0);
    give_back(cursor_);
    step(cursor_);
  }
  // Steps on as advance() does, but keeps the slot until give_back_up_to() gets this ticket or a later one.
  // The kernel fills slots in order, so later slots wait, too. Needs hold_prepare().
  void hold(std::uint64_t ticket);
  bool hold_prepare();  // false: no memory
  void give_back_up_to(std::uint64_t ticket);
  std::uint32_t held() const { return held_; }

 private:
  struct Cursor {
    std::byte* slot = nullptr;
    std::uint32_t in_block = 0;
    std::uint32_t block = 0;
  };
  void step(Cursor& cursor) const {
    cursor.slot += geometry_.slot_bytes;
    if (++cursor.in_block == geometry_.slots_per_block) next_block(cursor);
  }
  static void give_back(const Cursor& cursor) {
    __atomic_store_n(&reinterpret_cast<tpacket2_hdr*>(cursor.slot)->tp_status, TP_STATUS_KERNEL,
                     __ATOMIC_RELEASE);
  }
  void next_block(Cursor& cursor) const;
  std::byte* slot(std::uint32_t number) const {
    return base_ + std::size_t{number / geometry_.slots_per_block} * geometry_.block_bytes +
           std::size_t{number % geometry_.slots_per_block} * geometry_.slot_bytes;
  }
  void mark(std::uint32_t first, std::uint32_t last, std::uint32_t status) const;
  int next_slot_find(int fd, std::uint32_t& next) const;
  void unmap();

  Cursor cursor_;
  RingGeometry geometry_;
  std::byte* base_ = nullptr;
  // Slots that were taken and not given back start at oldest_.
  Cursor oldest_;
  std::uint32_t held_ = 0;
  std::vector<std::uint64_t> tickets_;  // a ring, the oldest at ticket_oldest_
  std::uint32_t ticket_oldest_ = 0;
  ForkMark mark_;
};

}  // namespace omx::link
