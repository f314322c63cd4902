// SPDX-License-Identifier: BSD-3-Clause
#include "link/xdp/xdp_socket.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "base/fences.h"
#include "netdev/socket_buffer.h"

namespace omx::link {

namespace {

constexpr std::uint32_t kSendRing = 512;
// As TxBatch has it for a full queue.
constexpr int kQueueFullTries = 64;
// Pieces of a frame to send. With copying the kernel takes 17, and drivers take fewer. Every driver that
// takes several takes those of a frame of 9 KB.
constexpr std::size_t kPiecesCopied = 16, kPiecesShared = 3;

#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#define SO_BUSY_POLL_BUDGET 70
#endif

void busy_poll_set(int fd) {
  constexpr int kMicroseconds = 20, kBudget = 64;  // the budget that drivers know
  const int one = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &one, sizeof one);
  ::setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &kMicroseconds, sizeof kMicroseconds);
  ::setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &kBudget, sizeof kBudget);
}

// Wakes the kernel without the C library's functions, which are cancellation points.
void wake_receive(int fd) {
  ::syscall(SYS_recvfrom, fd, nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
}

// Writes a frame piece by piece.
class Scatter {
 public:
  Scatter(std::byte* memory, const std::uint64_t* chunks) : memory_(memory), chunks_(chunks) {}
  void write(const void* from, std::size_t bytes) {
    const auto* source = static_cast<const std::byte*>(from);
    while (bytes > 0) {
      const std::size_t at = written_ % XdpPort::kChunkBytes;
      const std::size_t now = std::min<std::size_t>(bytes, XdpPort::kChunkBytes - at);
      std::memcpy(memory_ + chunks_[written_ / XdpPort::kChunkBytes] + at, source, now);
      written_ += now;
      source += now;
      bytes -= now;
    }
  }

 private:
  std::byte* memory_;
  const std::uint64_t* chunks_;
  std::size_t written_ = 0;
};

}  // namespace

// Pieces that receive() has read. The destructor gives them back, however receive() ends.
class XdpSocket::Taken {
 public:
  Taken(XdpSocket& socket, std::uint32_t count) : socket_(socket), count_(count) {}
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() {
    ::xsk_ring_cons__cancel(&socket_.rx_, count_ - seen_);
    if (seen_ == 0) return;
    ::xsk_ring_cons__release(&socket_.rx_, seen_);
    if (socket_.port_->refill({addresses_.data(), seen_})) wake_receive(socket_.fd_.get());
  }
  void see(std::uint64_t address) { addresses_[seen_++] = address; }
  static constexpr std::uint32_t kMost = 64;

 private:
  XdpSocket& socket_;
  std::uint32_t count_, seen_ = 0;
  std::array<std::uint64_t, kMost> addresses_;
};

int XdpSocket::open(std::uint8_t endpoint, std::uint32_t frames, bool busy_poll) {
  endpoint_ = endpoint;
  fd_ = OwnFd(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!fd_.open()) return errno;
  int error = rx_memory_.make(fd_.get(), XDP_RX_RING, frames, rx_);
  if (!error) error = tx_memory_.make(fd_.get(), XDP_TX_RING, kSendRing, tx_);
  if (error) return error;
  sockaddr_xdp address{};
  address.sxdp_family = AF_XDP;
  address.sxdp_ifindex = port_->index();
  address.sxdp_queue_id = port_->facts().queue;
  address.sxdp_flags = XDP_SHARED_UMEM;
  address.sxdp_shared_umem_fd = static_cast<std::uint32_t>(port_->socket());
  if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) return errno;
  send_buffer_set(fd_.get(), kSocketBuffer);
  busy_poll_ = busy_poll;
  if (busy_poll_) busy_poll_set(fd_.get());
  const XdpFacts& facts = port_->facts();
  send_most_ = XdpPort::kChunkBytes * (!facts.multi_buffer ? 1
                                       : facts.zero_copy   ? kPiecesShared
                                                           : kPiecesCopied);
  return 0;
}

int XdpSocket::listen(std::uint32_t largest, NicId nic) {
  assert(fd_.open());
  omx_xdp_rule rule{};
  rule.largest = largest;
  std::byte bytes[6];
  mac_store(bytes, nic);
  std::memcpy(rule.nic, bytes, sizeof bytes);
  if (listening_) return port_->attachment().rule_set(endpoint_, rule);
  const int error = port_->attachment().endpoint_set(port_->facts().queue, endpoint_, fd_.get(), rule);
  listening_ = error == 0;
  return error;
}

XdpSocket::~XdpSocket() {
  if (listening_) port_->attachment().endpoint_clear(port_->facts().queue, endpoint_);
  if (rx_memory_.data() && tx_memory_.data()) drain();
}

// Gives the memory in our rings back to the port, which may live on.
void XdpSocket::drain() {
  // Frames that were on their way to us have arrived after this call.
  if (port_.use_count() > 1) ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
  std::vector<std::uint64_t> received, unsent;
  std::uint32_t first = 0;
  const std::uint32_t count = ::xsk_ring_cons__peek(&rx_, rx_.size, &first);
  for (std::uint32_t i = 0; i < count; i++)
    received.push_back(::xsk_ring_cons__rx_desc(&rx_, first + i)->addr);
  if (count > 0) ::xsk_ring_cons__release(&rx_, count);
  if (!received.empty()) port_->refill(received);
  const std::uint32_t end = *tx_.producer;
  std::uint32_t next = __atomic_load_n(tx_.consumer, __ATOMIC_ACQUIRE);
  for (; next != end; next++) unsent.push_back(::xsk_ring_prod__tx_desc(&tx_, next)->addr);
  // The kernel no longer uses the ring when socket and mappings are gone.
  fd_.reset();
  rx_memory_.unmap();
  tx_memory_.unmap();
  port_->give_back(unsent);
  port_->give_back({chunks_.data(), kept_});
}

// Appends a piece of a frame that has several, and hands over the frame when it is complete.
void XdpSocket::whole(FrameHandler& handler, const xdp_desc& piece, LinkCounters& counters) {
  const std::byte* const start = port_->memory() + piece.addr;
  if (!joining_) joined_.clear();
  joined_.insert(joined_.end(), start, start + piece.len);
  joining_ = piece.options & kXdpContinued;
  if (joining_) return;
  counters.frames_received++;
  counters.bytes_received += joined_.size();
  handler.on_frame(joined_);
}

std::size_t XdpSocket::receive(FrameHandler& handler, std::size_t budget, LinkCounters& counters) {
  std::uint32_t first = 0;
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(budget, Taken::kMost));
  const std::uint32_t count = ::xsk_ring_cons__peek(&rx_, most, &first);
  if (count == 0) {
    if (busy_poll_) wake_receive(fd_.get());
    return 0;
  }
  const std::uint64_t before = counters.frames_received;
  Taken taken(*this, count);
  for (std::uint32_t i = 0; i < count; i++) {
    const xdp_desc& piece = *::xsk_ring_cons__rx_desc(&rx_, first + i);
    taken.see(piece.addr);
    if (joining_ || (piece.options & kXdpContinued)) {
      whole(handler, piece, counters);
      continue;
    }
    counters.frames_received++;
    counters.bytes_received += piece.len;
    handler.on_frame({port_->memory() + piece.addr, piece.len});
  }
  counters.receive_batches++;
  return counters.frames_received - before;
}

bool XdpSocket::chunks_find(std::uint32_t count, LinkCounters& counters) {
  for (int tries = 0; tries < kQueueFullTries; tries++) {
    if (kept_ < count) kept_ += port_->take(std::span(chunks_).subspan(kept_));
    if (kept_ >= count && ::xsk_prod_nb_free(&tx_, count) >= count) return true;
    flush(counters);
    if (tries > 0) ::sched_yield();
  }
  return false;
}

bool XdpSocket::send(const wire::TxFrame& frame, std::size_t bytes, LinkCounters& counters) {
  const auto count = static_cast<std::uint32_t>((bytes + XdpPort::kChunkBytes - 1) / XdpPort::kChunkBytes);
  assert(carries(bytes));
  assert(count > 0);
  assert(count <= kKept);
  if (!chunks_find(count, counters)) return false;
  kept_ -= count;
  const std::uint64_t* const chunks = chunks_.data() + kept_;
  Scatter out(port_->memory(), chunks);
  out.write(frame.header, frame.header_length);
  for (std::uint32_t i = 0; i < frame.segment_count; i++)
    out.write(frame.segments[i].iov_base, frame.segments[i].iov_len);

  std::uint32_t next = 0;
  ::xsk_ring_prod__reserve(&tx_, count, &next);
  for (std::uint32_t i = 0; i < count; i++) {
    const bool last = i + 1 == count;
    const std::size_t length = last ? bytes - std::size_t{i} * XdpPort::kChunkBytes : XdpPort::kChunkBytes;
    *::xsk_ring_prod__tx_desc(&tx_, next + i) = {chunks[i], static_cast<std::uint32_t>(length),
                                                 last ? 0 : kXdpContinued};
  }
  queued_ += count;
  counters.frames_sent++;
  counters.bytes_sent += bytes;
  return true;
}

// Hands queued pieces to the kernel. Unless the driver says that it polls by itself, the kernel sends during
// our system call, 32 pieces at a time. Pieces that it does not take now wait in the ring for the next call.
void XdpSocket::flush(LinkCounters& counters) {
  if (queued_ > 0) {
    ::xsk_ring_prod__submit(&tx_, std::exchange(queued_, 0));
    // A driver first says that it wants a wake-up and then polls the ring. With this fence one of the two
    // sides sees the other's write.
    Fences::full();
  }
  for (int tries = kQueueFullTries; tries > 0; tries--) {
    const std::uint32_t taken = __atomic_load_n(tx_.consumer, __ATOMIC_ACQUIRE);
    if (taken == *tx_.producer) return;
    if (port_->facts().zero_copy && !::xsk_ring_prod__needs_wakeup(&tx_)) return;
    counters.send_calls++;
    const long sent = ::syscall(SYS_sendto, fd_.get(), nullptr, 0, MSG_DONTWAIT, nullptr, 0);
    if (sent >= 0) {
      if (port_->facts().zero_copy) return;
      continue;
    }
    if (errno != EAGAIN && errno != EBUSY && errno != ENOBUFS && errno != EINTR) return;
    if (__atomic_load_n(tx_.consumer, __ATOMIC_ACQUIRE) == taken) ::sched_yield();
  }
}

std::uint64_t XdpSocket::drops_take() {
  xdp_statistics statistics{};
  socklen_t length = sizeof statistics;
  if (::getsockopt(fd_.get(), SOL_XDP, XDP_STATISTICS, &statistics, &length) < 0) return 0;
  const std::uint64_t all = statistics.rx_dropped + statistics.rx_ring_full;
  return all - std::exchange(drops_, all);
}

}  // namespace omx::link
