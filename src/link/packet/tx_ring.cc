// SPDX-License-Identifier: BSD-3-Clause
#include "link/packet/tx_ring.h"

#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>

#include "link/packet/packet_socket.h"
#include "link/packet/pieces.h"
#include "netdev/socket_buffer.h"

namespace omx::link {

namespace {

constexpr std::size_t kBlockBytes = 64 << 10;
constexpr std::uint32_t kBlocks = 16;
// The kernel expects the frame here.
constexpr std::size_t kFrameAt = TPACKET2_HDRLEN - sizeof(sockaddr_ll);

}  // namespace

bool TxRing::open(int like, std::size_t bytes) {
  close();
  sockaddr_ll address{};
  socklen_t length = sizeof address;
  OwnFd fd = packet_socket_new();
  if (bytes > kLargest || !fd.open() ||
      ::getsockname(like, reinterpret_cast<sockaddr*>(&address), &length) < 0)
    return false;
  address.sll_protocol = 0;  // it receives nothing
  slot_bytes_ = TPACKET_ALIGN(kFrameAt + bytes);
  per_block_ = static_cast<std::uint32_t>(kBlockBytes / slot_bytes_);
  slots_ = per_block_ * kBlocks;
  const int version = TPACKET_V2;
  tpacket_req request{};
  request.tp_block_size = kBlockBytes;
  request.tp_block_nr = kBlocks;
  request.tp_frame_size = static_cast<unsigned>(slot_bytes_);
  request.tp_frame_nr = slots_;
  if (::setsockopt(fd.get(), SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
      ::setsockopt(fd.get(), SOL_PACKET, PACKET_TX_RING, &request, sizeof request) < 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return false;
  void* const memory =
      ::mmap(nullptr, kBlocks * kBlockBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return false;
  ::madvise(memory, kBlocks * kBlockBytes, MADV_DONTFORK);
  send_buffer_set(fd.get(), kSocketBuffer);
  fd_ = std::move(fd);
  memory_ = static_cast<std::byte*>(memory);
  room_ = bytes;
  next_ = queued_ = 0;
  return true;
}

void TxRing::close() {
  // A forked child never had the mapping, and may have another one at that address.
  if (memory_ && !mark_.forked()) ::munmap(memory_, kBlocks * kBlockBytes);
  memory_ = nullptr;
  fd_.reset();
}

std::byte* TxRing::slot(std::uint32_t index) const {
  return memory_ + index / per_block_ * kBlockBytes + index % per_block_ * slot_bytes_;
}

std::uint32_t& TxRing::status(std::uint32_t index) const {
  return reinterpret_cast<tpacket2_hdr*>(slot(index))->tp_status;
}

// The kernel frees slots in any order, if an interface has several queues. The last of the slots may be free
// before the first.
bool TxRing::has_room(std::uint32_t frames) const {
  if (frames > slots_) return false;
  for (std::uint32_t i = 0; i < frames; i++)
    if (__atomic_load_n(&status((next_ + i) % slots_), __ATOMIC_ACQUIRE) != TP_STATUS_AVAILABLE) return false;
  return true;
}

void TxRing::put(const iovec* pieces, std::size_t count) {
  const std::size_t bytes = pieces_bytes(pieces, count);
  assert(holds(bytes));
  pieces_gather(pieces, count, slot(next_) + kFrameAt);
  reinterpret_cast<tpacket2_hdr*>(slot(next_))->tp_len = static_cast<std::uint32_t>(bytes);
  __atomic_store_n(&status(next_), TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
  next_ = (next_ + 1) % slots_;
  queued_++;
}

std::uint32_t TxRing::send() {
  // This is not send(), because that is a cancellation point (see tx_batch.cc).
  // It reports no error when it took some frames, and had no room for more.
  if (::syscall(SYS_sendto, fd_.get(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) >= 0) errno = EAGAIN;
  std::uint32_t taken = 0;
  while (queued_ > 0) {
    const std::uint32_t first = (next_ + slots_ - queued_) % slots_;
    if (__atomic_load_n(&status(first), __ATOMIC_ACQUIRE) == TP_STATUS_SEND_REQUEST) break;
    queued_--;
    taken++;
  }
  return taken;
}

// The kernel reads the ring only during send(), and goes on at the first frame that it did not take.
void TxRing::withdraw() {
  for (; queued_ > 0; queued_--) {
    next_ = (next_ + slots_ - 1) % slots_;
    __atomic_store_n(&status(next_), TP_STATUS_AVAILABLE, __ATOMIC_RELEASE);
  }
}

}  // namespace omx::link
