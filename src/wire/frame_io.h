// SPDX-License-Identifier: BSD-3-Clause
// What crosses the boundary between the engine and a link: frames to send, gathered from header bytes and
// references to payload memory. The simulator and the tests implement the same interface.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "wire/lane.h"

namespace omx::wire {

// Room for the largest header with extensions, a SMALL's inline payload, and a checksum trailer.
inline constexpr std::size_t kHeaderCapacity = 320;

// One frame under construction: `header_length` bytes of `header`, then `segment_count` pieces of payload.
// A frame shorter than 60 bytes is padded with zeros by the link (wire.md 8).
struct TxFrame {
  std::uint32_t header_length = 0;
  std::uint32_t segment_count = 0;
  bool alone = false;         // the kernel is not to make it out of a larger one (UDP segmentation)
  iovec* segments = nullptr;  // room for as many as frame_begin was asked for
  std::byte header[kHeaderCapacity];
};

// Takes frames in order. Payload memory must stay readable until flush() returns. A frame that cannot be
// sent (link down, queue full) is dropped and counted by the sink: the protocol recovers from loss.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  // A frame with room for `max_segments` payload pieces; never null. May flush to make room.
  virtual TxFrame& frame_begin(std::uint32_t max_segments) = 0;
  // The same for a frame that goes to a lane of its receiver. Other frames may pass those of the lane.
  virtual TxFrame& lane_begin(const LaneAddress&, std::uint32_t max_segments) {
    return frame_begin(max_segments);
  }
  // The same for a frame that leaves by another board of the endpoint.
  virtual TxFrame& rail_begin(unsigned, std::uint32_t max_segments) { return frame_begin(max_segments); }
  // Queues the frame of the last frame_begin, lane_begin or rail_begin.
  virtual void frame_commit() = 0;
  // Sends what is queued.
  virtual void flush() = 0;
};

}  // namespace omx::wire
