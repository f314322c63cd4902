// SPDX-License-Identifier: BSD-3-Clause
// The memory-mapped receive ring of a packet socket (TPACKET_V2). V2 and not V3, because V3 hands over blocks
// of frames after a timeout: more throughput for a sniffer, but milliseconds of latency.
//
// The kernel fills slots in order and sets TP_STATUS_USER; we read them in order and set TP_STATUS_KERNEL.
// The status word is the only thing both sides write: acquire on our load makes the frame visible, release on
// our store makes sure that we are done reading it.
#pragma once

#include <linux/if_packet.h>

#include <cstddef>
#include <cstdint>

namespace omx::link {

struct RingGeometry {
  std::uint32_t slot_bytes = 0;
  std::uint32_t block_bytes = 0;
  std::uint32_t blocks = 0;
  std::uint32_t slots_per_block = 0;
  std::uint32_t slots() const { return blocks * slots_per_block; }
  std::size_t bytes() const { return std::size_t{block_bytes} * blocks; }
};

inline constexpr std::uint32_t kRingMinSlots = 64;

// Slots large enough for every frame of an interface with this MTU. The ring stays within `bytes`, except
// that it never has fewer than kRingMinSlots slots.
RingGeometry ring_geometry(std::uint32_t mtu, std::uint32_t slots, std::uint32_t bytes);

class PacketRing {
 public:
  PacketRing() = default;
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;
  ~PacketRing() { unmap(); }

  // Once per socket, before map. Returns 0 or errno.
  static int prepare(int fd);
  // Returns 0 or errno (ENOMEM: try a smaller one).
  int map(int fd, const RingGeometry& geometry);
  // Gives the ring back to the kernel; frames in it are lost. Returns 0 or errno.
  int release(int fd);

  bool mapped() const { return base_ != nullptr; }
  const RingGeometry& geometry() const { return geometry_; }

  // The oldest received frame, or nullptr. Valid until advance().
  const tpacket2_hdr* front() const {
    const auto* header = reinterpret_cast<const tpacket2_hdr*>(cursor_);
    return __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER ? header : nullptr;
  }
  static const std::byte* frame_of(const tpacket2_hdr* header) {
    return reinterpret_cast<const std::byte*>(header) + header->tp_mac;
  }
  // Starts to load the status of the slot after the front, which the kernel wrote on another core.
  void prefetch_next() const { __builtin_prefetch(cursor_ + geometry_.slot_bytes); }
  // Gives the front slot back to the kernel.
  void advance() {
    __atomic_store_n(&reinterpret_cast<tpacket2_hdr*>(cursor_)->tp_status, TP_STATUS_KERNEL,
                     __ATOMIC_RELEASE);
    cursor_ += geometry_.slot_bytes;
    if (++slot_ == geometry_.slots_per_block) next_block();
  }

 private:
  void next_block();
  void unmap();

  std::byte* cursor_ = nullptr;
  std::uint32_t slot_ = 0;  // inside the block
  std::uint32_t block_ = 0;
  RingGeometry geometry_;
  std::byte* base_ = nullptr;
};

}  // namespace omx::link
