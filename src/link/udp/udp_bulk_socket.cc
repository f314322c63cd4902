// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_bulk_socket.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>

#include "link/packet/pieces.h"
#include "link/udp/udp_socket.h"
#include "netdev/socket_buffer.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::link {

namespace {

constexpr std::size_t kFrames = wire::kGsoBatchFrames;

// Returns whether frames of this type go by bulk paths. A datagram of a GSO frame that was cut is only data,
// and may look like a frame of another type by accident.
bool goes_by_bulk(wire::Frame frame) {
  wire::Head head;
  return wire::decode_head(frame, head) == wire::Drop::none &&
         (head.type == wire::PacketType::pull_reply || head.type == wire::PacketType::medium ||
          head.type == wire::PacketType::probe);
}

}  // namespace

// The memory that a GSO batch is received into. If the places of its data are known, the batch lies in
// `headers`, places, and for what is longer than expected in `rest`. Frames that are not where they were
// expected are assembled in `joined`.
struct UdpBulkSocket::Memory {
  std::byte headers[kFrames][wire::kMediumHeaderMost];
  std::size_t header = 0;  // bytes of each
  iovec places[kFrames];
  iovec pieces[2 * kFrames + 1];
  std::size_t piece_count = 0;
  bool placed[kFrames + 1];
  std::byte rest[kDatagramMost];
  std::byte joined[kDatagramMost];
};

UdpBulkSocket::UdpBulkSocket(Beside beside, ZerocopyMode zerocopy, LinkCounters& counters)
    : beside_(beside), zerocopy_mode_(zerocopy), counters_(counters), zerocopy_(zerocopy, counters) {}
UdpBulkSocket::~UdpBulkSocket() = default;

bool UdpBulkSocket::open(const std::optional<InterfaceAddress>& own, std::uint32_t mtu, std::uint16_t port) {
  if (!own) {
    errno = EADDRNOTAVAIL;
    return false;
  }
  own_ = *own;
  fd_ = udp_socket_open(own_, port);
  if (!fd_.open()) return false;
  send_buffer_set(fd_.get(), kSocketBuffer);
  // Only half of the charged size is available, because the kernel counts its own structures, too.
  info_.window = static_cast<std::uint32_t>(receive_buffer_set(fd_.get(), kSocketBuffer)) / 2;
  info_.address.ip = own_.ip;
  info_.address.port = udp_socket_port(fd_.get());
  info_.address.frame = static_cast<std::uint16_t>(udp_frame(mtu, own_));
  info_.network_bits = beside_ == Beside::raw_frames ? own_.network_bits : 0;
  info_.fragments = beside_ == Beside::raw_frames;
  memory_.reset(new (std::nothrow) Memory);
  if (!info_.address.present() || !memory_) {
    fd_.reset();
    info_ = {};
  }
  if (!fd_.open()) return false;
  batch_.emplace(counters_);
  // Before peers know the port: the second socket takes datagrams until it is connected.
  if (zerocopy_mode_ != ZerocopyMode::never && zerocopy_.open(fd_.get(), own_, info_.address.port))
    batch_->zerocopy_set(&zerocopy_);
  return true;
}

wire::TxFrame& UdpBulkSocket::begin(const wire::BulkAddress& to, std::uint32_t max_segments) {
  assert(batch_);
  to_ = to;
  return batch_->begin(fd_.get(), max_segments);
}

void UdpBulkSocket::commit() {
  assert(batch_);
  batch_->commit(fd_.get(), to_, own_.ifindex);
}

void UdpBulkSocket::flush() {
  if (batch_) batch_->flush(fd_.get());
}

void UdpBulkSocket::marks_forgo() {
  udp_socket_marks_forgo(fd_.get());
  udp_socket_marks_forgo(zerocopy_.descriptor());
}

// Prepares the pieces for a GSO batch. Its frames have one size, and the last may be shorter. Returns for
// how many frames there are places.
std::size_t UdpBulkSocket::prepare(BulkHandler& handler) {
  Memory& m = *memory_;
  const std::size_t known = handler.udp_bulk_places(m.places, m.header);
  std::size_t bytes = 0, count = 0;
  while (count < known) {
    const std::size_t length = m.places[count].iov_len;
    bytes += m.header + length;
    if (length > m.places[0].iov_len || bytes > wire::kGsoBatchBytes) break;
    m.pieces[2 * count] = {m.headers[count], m.header};
    m.pieces[2 * count + 1] = m.places[count];
    if (length < m.places[count++].iov_len || length < m.places[0].iov_len) break;
  }
  m.pieces[2 * count] = {m.rest, sizeof m.rest};
  m.piece_count = 2 * count + 1;
  return count;
}

// Copies bytes of the GSO batch to `out`, wherever they lie, and returns how many there were.
std::size_t UdpBulkSocket::gather(std::size_t offset, std::size_t length, std::byte* out) const {
  return pieces_read(memory_->pieces, memory_->piece_count, offset, length, out);
}

// Returns whether the batch is a GSO frame, whole or not. What follows its first datagram is no frame.
bool UdpBulkSocket::whole_frame(const UdpArrival& batch) const {
  std::byte header[wire::kMediumHeaderMost];
  const std::size_t known = gather(0, std::min(batch.bytes, sizeof header), header);
  return wire::gso_frame_bytes({header, known}) > batch.segment;
}

// Hands the frames of a batch over, and returns how many they are. First all frames are judged, and those out
// of place assembled: what must be moved may belong where another frame's data lie now.
std::size_t UdpBulkSocket::hand_over(BulkHandler& handler, std::size_t places, const UdpArrival& batch,
                                     const wire::FrameSender& sender) {
  Memory& m = *memory_;
  const std::size_t segment = whole_frame(batch) ? batch.bytes : batch.segment;
  const std::size_t bytes = batch.bytes;
  const bool aligned = places > 0 && (segment == m.header + m.places[0].iov_len || bytes <= segment);
  std::size_t frames = 0;
  for (std::size_t at = 0; at < bytes; at += segment, frames++) {
    const std::size_t length = std::min(segment, bytes - at);
    m.placed[frames] = aligned && frames < places && length == m.header + m.places[frames].iov_len &&
                       sent_by({m.headers[frames], length}, sender) &&
                       handler.bulk_in_place(frames, {m.headers[frames], length});
    if (!m.placed[frames] && places > 0) gather(at, length, m.joined + at);
  }
  const std::byte* const whole = places > 0 ? m.joined : m.rest;
  for (std::size_t i = 0, at = 0; i < frames; i++, at += segment) {
    const std::size_t length = std::min(segment, bytes - at);
    if (m.placed[i]) {
      counters_.bulk_placed++;
      handler.on_bulk_placed(i, {m.headers[i], length});
    } else if (length >= wire::kBulkHeader && goes_by_bulk({whole + at, length}) &&
               sent_by({whole + at, length}, sender)) {
      if (places > 0) counters_.bulk_moved++;
      handler.on_bulk_frame({whole + at, length});
    } else {
      counters_.frames_ignored++;
    }
  }
  counters_.frames_received += frames;
  counters_.bytes_received += bytes;
  if (batch.frames() > 1) counters_.gso_batches_received++;
  return frames;
}

std::size_t UdpBulkSocket::receive(BulkHandler& handler, std::size_t budget) {
  std::size_t frames = 0, looked_at = 0;
  while (fd_.open() && looked_at < budget) {
    const std::size_t places = prepare(handler);
    const auto batch = datagram_receive(fd_.get(), memory_->pieces, memory_->piece_count);
    if (!batch) break;
    counters_.receive_batches++;
    looked_at += batch->frames();
    const wire::FrameSender sender = handler.bulk_sender(batch->from);
    if (sender.nic == 0 || batch->bytes < wire::kHeadBytes || batch->cut || batch->bytes > kDatagramMost ||
        batch->frames() > kFrames) {
      counters_.frames_ignored += batch->frames();
      continue;
    }
    if (batch->marked) [[unlikely]]
      handler.bulk_marked(true);
    frames += hand_over(handler, places, *batch, sender);
    if (batch->marked) [[unlikely]]
      handler.bulk_marked(false);
    if (!handler.bulk_more()) break;
  }
  return frames;
}

}  // namespace omx::link
