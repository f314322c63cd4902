// SPDX-License-Identifier: BSD-3-Clause
// The bulk path of raw frames: a socket of its own for the frames of large messages, whose data it receives
// straight into their place. A facet of a transport.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "base/mac.h"
#include "wire/codec.h"
#include "wire/lane.h"
#include "wire/packets.h"

namespace omx::link {

// Takes frames of the bulk lane, whose data the link may receive straight into their place.
class BulkHandler {
 public:
  virtual ~BulkHandler() = default;
  // Returns the NIC whose lane it is, as only its frames are taken from there. 0: no known peer's.
  virtual NicId lane_sender(const wire::LaneAddress&) { return 0; }
  // Whether to look there for more after what it just took. A look in vain costs as much as a short message.
  virtual bool lane_more() { return true; }
  // Where the data (what follows the first wire::kBulkHeader bytes) of the next frames belong, in the order
  // in which they should come; returns how many are known. What lands in a wrong place is moved or dropped
  // before the next call.
  virtual std::size_t bulk_places(std::span<iovec> places) = 0;
  // The same of a UDP lane, where other frames come, too: `header` is what precedes the data of each, at most
  // wire::kMediumHeaderMost bytes.
  virtual std::size_t lane_places(std::span<iovec> places, std::size_t& header) {
    header = wire::kBulkHeader;
    return bulk_places(places);
  }
  // Whether a frame is what place `index` was for. Only its header may be read, though it has its size.
  virtual bool bulk_in_place(std::size_t index, wire::Frame frame) = 0;
  // Such a frame, in its turn.
  virtual void on_bulk_placed(std::size_t index, wire::Frame frame) = 0;
  // Any other frame, valid during the call.
  virtual void on_bulk_frame(wire::Frame frame) = 0;
};

// The transport owns the path. Only the thread that owns the transport may call it.
class BulkPath {
 public:
  virtual ~BulkPath() = default;
  // Opens the path, because large messages are on their way. Cheap when it is open. Returns false when they
  // come by Transport::receive() instead.
  virtual bool expect() = 0;
  // Lets large messages come by Transport::receive() again. What is in the path already is read there.
  // Returns false when the path still takes them; the caller tries again later.
  virtual bool forgo() = 0;
  // Closes a path that takes no frames and was read until it was empty. One that could not be had may be
  // tried again afterwards.
  virtual void close() = 0;
  // Hands up to `budget` frames to the handler, as Transport::receive() does; returns how many. Costs a
  // system call or two. Never blocks.
  virtual std::size_t receive(BulkHandler& handler, std::size_t budget) = 0;
  // Returns what to sleep on beside Transport::descriptor(); -1: there is none now.
  virtual int descriptor() const = 0;
};

}  // namespace omx::link
