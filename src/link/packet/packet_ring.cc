// SPDX-License-Identifier: BSD-3-Clause
#include "link/packet/packet_ring.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <new>

#include "wire/packets.h"

namespace omx::link {

namespace {

// The kernel puts F0 two bytes into the second cache line of a slot. A frame of minimum size lies in that
// one line. Another PACKET_RESERVE could align body or payload instead, but a third line costs 0.06 of 1.6
// us.
constexpr std::uint32_t kFrameAt = TPACKET_ALIGN(TPACKET2_HDRLEN + 16) - wire::kEthernetHeader;
static_assert(kFrameAt == 66);

constexpr std::uint32_t kVlanTag = 4;  // devices pass frames that are this much longer than the MTU
constexpr std::uint32_t kCacheLine = 64;

// Blocks up to 4 MiB come from the kernel's page allocator in one piece. Larger blocks, and those for which
// it has no such piece, are slower vmalloc memory (a page-table walk per frame). So take the smallest block
// that fits well. A block is whole pages, of up to 64 KiB.
constexpr std::uint32_t kMinBlock = 64U << 10;
constexpr std::uint32_t kMaxBlock = 4U << 20;

}  // namespace

RingGeometry ring_geometry(std::uint32_t mtu, std::uint32_t slots, std::uint32_t bytes) {
  const std::uint32_t used = kFrameAt + wire::kEthernetHeader + kVlanTag + mtu;
  RingGeometry g;
  // A slot is whole cache lines, so that slots share none. Their number is odd, so that slots do not all
  // start in the same cache set.
  g.slot_bytes = ((used + kCacheLine - 1) / kCacheLine | 1) * kCacheLine;
  g.block_bytes = kMinBlock;
  while (g.block_bytes < kMaxBlock) {
    const std::uint32_t waste = g.block_bytes % g.slot_bytes;
    if (g.block_bytes >= g.slot_bytes && waste <= g.block_bytes / 8) break;
    g.block_bytes *= 2;
  }
  g.slots_per_block = g.block_bytes / g.slot_bytes;
  assert(g.slots_per_block > 0);
  const auto blocks_for = [&g](std::uint64_t count) {
    return static_cast<std::uint32_t>((count + g.slots_per_block - 1) / g.slots_per_block);
  };
  g.blocks = std::min(blocks_for(slots), bytes / g.block_bytes);
  g.blocks = std::max(g.blocks, blocks_for(kRingMinSlots));
  return g;
}

int PacketRing::prepare(int fd) {
  const int version = TPACKET_V2;
  return ::setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ? errno : 0;
}

int PacketRing::request(int fd, const RingGeometry& geometry) {
  tpacket_req request{};
  request.tp_block_size = geometry.block_bytes;
  request.tp_block_nr = geometry.blocks;
  request.tp_frame_size = geometry.slot_bytes;
  request.tp_frame_nr = geometry.slots();
  return ::setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0 ? errno : 0;
}

int PacketRing::map(int fd, const RingGeometry& geometry) {
  assert(!mapped());
  int error = request(fd, geometry);
  if (error) return error;
  error = attach(fd, geometry);
  if (error) release(fd);
  return error;
}

int PacketRing::attach(int fd, const RingGeometry& geometry) {
  assert(!mapped());
  void* memory = ::mmap(nullptr, geometry.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return errno;
  // A forked child must not steal frames. Its mapping would also keep release() from working.
  ::madvise(memory, geometry.bytes(), MADV_DONTFORK);
  geometry_ = geometry;
  base_ = static_cast<std::byte*>(memory);
  cursor_ = {base_, 0, 0};
  return 0;
}

void PacketRing::mark(std::uint32_t first, std::uint32_t last, std::uint32_t status) const {
  for (std::uint32_t i = first; i < last; i++)
    __atomic_store_n(&reinterpret_cast<tpacket2_hdr*>(slot(i))->tp_status, status, __ATOMIC_RELEASE);
}

// Finds the slot that the kernel fills next. The kernel does not tell, but poll() reports whether the slot
// before it is full. We decide which slots look full.
int PacketRing::next_slot_find(int fd, std::uint32_t& next) const {
  const auto before_is_full = [fd] {
    pollfd look{fd, POLLIN, 0};
    return ::poll(&look, 1, 0) > 0 && (look.revents & POLLIN);
  };
  const std::uint32_t slots = geometry_.slots();
  std::uint32_t first = 0, last = slots;
  mark(0, slots, TP_STATUS_KERNEL);
  if (before_is_full()) return EIO;
  while (last - first > 1) {
    const std::uint32_t half = first + (last - first) / 2;
    mark(first, half, TP_STATUS_USER);
    const bool lower = before_is_full();
    mark(first, half, TP_STATUS_KERNEL);
    (lower ? last : first) = half;
  }
  mark(first, last, TP_STATUS_USER);
  const bool found = before_is_full();
  mark(first, last, TP_STATUS_KERNEL);
  next = (first + 1) % slots;
  return found ? 0 : EIO;
}

int PacketRing::adopt(int fd, const RingGeometry& geometry) {
  assert(!mapped());
  int error = attach(fd, geometry);
  if (error) return error;
  std::uint32_t next = 0;
  error = next_slot_find(fd, next);
  if (error) {
    unmap();
    return error;
  }
  cursor_ = {slot(next), next % geometry_.slots_per_block, next / geometry_.slots_per_block};
  return 0;
}

int PacketRing::release(int fd) {
  unmap();
  tpacket_req none{};
  return ::setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &none, sizeof none) < 0 ? errno : 0;
}

void PacketRing::next_block(Cursor& cursor) const {
  cursor.in_block = 0;
  if (++cursor.block == geometry_.blocks) cursor.block = 0;
  cursor.slot = base_ + std::size_t{cursor.block} * geometry_.block_bytes;
}

bool PacketRing::hold_prepare() {
  try {
    tickets_.resize(geometry_.slots());
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void PacketRing::hold(std::uint64_t ticket) {
  assert(mapped());
  assert(held_ < tickets_.size());
  if (held_ == 0) oldest_ = cursor_;
  tickets_[(ticket_oldest_ + held_) % tickets_.size()] = ticket;
  held_++;
  step(cursor_);
}

void PacketRing::give_back_up_to(std::uint64_t ticket) {
  while (held_ > 0 && tickets_[ticket_oldest_] <= ticket) {
    give_back(oldest_);
    step(oldest_);
    ticket_oldest_ = (ticket_oldest_ + 1) % static_cast<std::uint32_t>(tickets_.size());
    held_--;
  }
}

void PacketRing::unmap() {
  // A forked child never had the mapping, and may have another one at that address.
  if (base_ && !mark_.forked()) ::munmap(base_, geometry_.bytes());
  base_ = nullptr;
  cursor_ = {};
  held_ = ticket_oldest_ = 0;
  tickets_.clear();
}

}  // namespace omx::link
