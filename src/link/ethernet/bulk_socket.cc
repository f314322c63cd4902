// SPDX-License-Identifier: BSD-3-Clause
#include "link/ethernet/bulk_socket.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "base/no_signals.h"
#include "link/fanout/fanout_calls.h"
#include "link/packet/packet_filter.h"
#include "link/packet/packet_socket.h"
#include "netdev/socket_buffer.h"
#include "wire/packets.h"

namespace omx::link {

namespace {

constexpr int kLeast = 6 << 20;  // bytes, as the kernel charges them

FilterProgram filter_of(std::uint32_t ifindex, std::uint8_t endpoint) {
  FilterRule rule;
  rule.endpoint = endpoint;
  rule.ifindex = ifindex;
  rule.board_frames = false;
  rule.frames = FrameClass::bulk;
  return packet_filter_build(rule);
}

// Closes the socket in a thread of its own. Before a packet socket is gone, the kernel waits for all
// processors, often for 20 ms. A thread with messages under way must not wait that long.
void close_later(OwnFd socket) {
  const NoSignals no_signals;
  try {
    std::thread([fd = std::move(socket)]() mutable { fd.reset(); }).detach();
  } catch (const std::exception&) {  // out of threads or memory; the destroyed capture has closed the socket
  }
}

}  // namespace

bool BulkSocket::open(std::uint32_t ifindex, std::uint8_t endpoint, std::uint32_t mtu) {
  OwnFd socket = packet_socket_new();
  if (!socket.open()) return false;
  const int fd = socket.get();
  ifindex_ = ifindex;
  endpoint_ = endpoint;
  if (receive_buffer_set(fd, kBulkBuffer) < kLeast ||
      packet_filter_attach(fd, filter_of(ifindex, endpoint)) != 0 || packet_socket_bind(fd, ifindex) != 0) {
    close_later(std::move(socket));
    return false;
  }
  fd_ = std::move(socket);
  if (fit(mtu)) return true;
  close();
  return false;
}

bool BulkSocket::open_granted(GrantedSockets& granted, std::uint32_t mtu) {
  granted_ = &granted;
  fd_ = granted.bulk();
  if (fd_.open() && fit(mtu) && admit(true)) return true;
  close();
  return false;
}

bool BulkSocket::admit(bool frames) const {
  if (!fd_.open()) return false;
  if (granted_) {
    granted_->take(GrantedSockets::Socket::bulk, frames ? std::optional(FrameClass::bulk) : std::nullopt);
    return true;
  }
  return (frames ? packet_filter_attach(fd_.get(), filter_of(ifindex_, endpoint_)) : drop_all(fd_.get())) ==
         0;
}

void BulkSocket::close() {
  if (fd_.open()) close_later(std::move(fd_));
}

bool BulkSocket::fit(std::uint32_t mtu) {
  // A slot has one byte more than a frame, so that a cut frame is noticed. It fills whole cache lines.
  const std::size_t slot = (mtu + wire::kEthernetHeader + 1 + 63) & ~std::size_t{63};
  if (!fd_.open() || slot <= slot_) return true;
  std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[slot * kBatch]);
  if (!batch_) batch_.reset(new (std::nothrow) Batch);
  if (!memory || !batch_) return false;
  memory_ = std::move(memory);
  slot_ = slot;
  for (std::size_t i = 0; i < kBatch; i++) {
    batch_->messages[i] = {};
    batch_->messages[i].msg_hdr.msg_iov = batch_->pieces[i];
  }
  return true;
}

// Points the messages at where frames go. The data of a frame whose place is known go to that place. The
// slot keeps room for the data, so that an unexpected frame can be put together there.
void BulkSocket::prepare(std::size_t count, std::size_t places) {
  for (std::size_t i = 0; i < count; i++) {
    iovec* pieces = batch_->pieces[i];
    msghdr& message = batch_->messages[i].msg_hdr;
    const std::size_t length = i < places ? batch_->places[i].iov_len : 0;
    if (length > 0 && wire::kBulkHeader + length < slot_) {
      const std::size_t rest = wire::kBulkHeader + length;
      pieces[0] = {slot(i), wire::kBulkHeader};
      pieces[1] = batch_->places[i];
      pieces[2] = {slot(i) + rest, slot_ - rest};
      message.msg_iovlen = 3;
    } else {
      pieces[0] = {slot(i), slot_};
      message.msg_iovlen = 1;
    }
  }
}

// Decides what became of a frame. All frames of a batch are judged before the first is handed over. A frame
// that must be moved may belong where a later frame's data lie now.
void BulkSocket::judge(BulkHandler& handler, std::size_t i) {
  const msghdr& message = batch_->messages[i].msg_hdr;
  const std::size_t length = batch_->messages[i].msg_len;
  if (message.msg_flags & MSG_TRUNC) {  // the MTU grew, and refresh() has not seen it yet
    batch_->fates[i] = Fate::cut;
    return;
  }
  batch_->fates[i] = Fate::frame;
  if (message.msg_iovlen == 1) return;
  if (handler.bulk_in_place(i, {slot(i), length})) {
    batch_->fates[i] = Fate::placed;
    return;
  }
  if (length <= wire::kBulkHeader) return;
  const iovec& place = batch_->pieces[i][1];
  std::memcpy(slot(i) + wire::kBulkHeader, place.iov_base,
              std::min(length - wire::kBulkHeader, place.iov_len));
}

std::size_t BulkSocket::receive(BulkHandler& handler, std::size_t budget, LinkCounters& counters) {
  assert(fd_.open());
  assert(memory_);
  std::size_t frames = 0;
  while (frames < budget) {
    const std::size_t asked = ahead_;
    prepare(asked, handler.bulk_places(std::span(batch_->places).first(asked)));
    // This is not recvmmsg(), because that is a cancellation point (see tx_batch.cc).
    const long got = ::syscall(SYS_recvmmsg, fd_.get(), batch_->messages, asked, MSG_DONTWAIT, nullptr);
    if (got <= 0) break;
    const auto count = static_cast<std::size_t>(got);
    for (std::size_t i = 0; i < count; i++) judge(handler, i);
    for (std::size_t i = 0; i < count; i++) {
      const wire::Frame frame{slot(i), batch_->messages[i].msg_len};
      if (batch_->fates[i] == Fate::cut) {
        counters.frames_ignored++;
        continue;
      }
      counters.bytes_received += frame.size();
      if (batch_->fates[i] == Fate::placed) {
        counters.bulk_placed++;
        handler.on_bulk_placed(i, frame);
      } else {
        counters.bulk_moved++;
        handler.on_bulk_frame(frame);
      }
    }
    counters.frames_received += count;
    counters.receive_batches++;
    frames += count;
    ahead_ = std::clamp(2 * count, kFewest, kBatch);
    if (count < asked) break;
  }
  return frames;
}

}  // namespace omx::link
