// SPDX-License-Identifier: BSD-3-Clause
// The boundary between the engine and a link: frames to send, gathered from header bytes and references to
// payload memory. The simulator and the tests implement the same interface.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wire/udp_bulk.h"

namespace omx::wire {

// Room for the largest header with its extensions, the inline payload of a SMALL, and a checksum trailer.
inline constexpr std::size_t kHeaderCapacity = 320;

// One frame under construction: `header_length` bytes of `header`, then `segment_count` pieces of payload.
// The link pads a frame shorter than 60 bytes with zeros (docs/spec/wire.md 8).
struct TxFrame {
  std::uint32_t header_length = 0;
  std::uint32_t segment_count = 0;
  bool alone = false;         // must not be cut from a GSO batch by the kernel
  bool lasting = false;       // the payload stays as it is until the receiver has the whole message
  std::uint32_t cut = 0;      // bytes of each datagram that a GSO frame is cut into; 0: it is no GSO frame
  iovec* segments = nullptr;  // room for max_segments of frame_begin()
  std::byte header[kHeaderCapacity];
};

// Takes frames in order. Payload memory must stay readable until flush() returns. A frame that cannot be sent
// (link down, queue full) is dropped and counted by the sink. The protocol recovers from the loss.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  // Returns a frame with room for `max_segments` payload pieces, never null. May flush to make room.
  virtual TxFrame& frame_begin(std::uint32_t max_segments) = 0;
  // Returns a frame as frame_begin() does, which travels by the bulk path of its receiver. Other frames may
  // overtake it.
  virtual TxFrame& bulk_begin(const BulkAddress&, std::uint32_t max_segments) {
    return frame_begin(max_segments);
  }
  // Returns a frame as frame_begin() does, which leaves by another board of the endpoint.
  virtual TxFrame& rail_begin(unsigned, std::uint32_t max_segments) { return frame_begin(max_segments); }
  // Queues the frame of the last frame_begin, bulk_begin or rail_begin.
  virtual void frame_commit() = 0;
  // Sends what is queued.
  virtual void flush() = 0;
  // Declares, from now on, that queues may not mark the frames (ECN), because a receiver does not tell of
  // marks.
  virtual void marks_forgo() {}
  // Sends a frame in one piece, after what is queued. If it is shorter than kMinFrame, zeros follow it in
  // memory up to there.
  virtual void send_now(const std::byte* bytes, std::size_t length) {
    TxFrame& frame = frame_begin(0);
    std::memcpy(frame.header, bytes, length);
    frame.header_length = static_cast<std::uint32_t>(length);
    frame_commit();
    flush();
  }
};

}  // namespace omx::wire
