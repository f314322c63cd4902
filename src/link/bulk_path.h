// SPDX-License-Identifier: BSD-3-Clause
// The bulk path of raw frames is a facet of a transport. It is a separate socket for the frames of large
// messages, whose data it receives straight into their place.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "base/mac.h"
#include "wire/codec.h"
#include "wire/packets.h"
#include "wire/udp_bulk.h"

namespace omx::link {

// Takes frames of a bulk path. The link may receive their data straight into their place.
class BulkHandler {
 public:
  virtual ~BulkHandler() = default;
  // Returns the endpoint with this bulk path address, because only frames of that endpoint are taken from
  // there. Returns NIC 0 when no known peer has the address.
  virtual wire::FrameSender bulk_sender(const wire::BulkAddress&) { return {}; }
  // Returns whether to poll the path again after what it just took. A poll that finds nothing costs as much
  // as a short message.
  virtual bool bulk_more() { return true; }
  // Fills in where the data of the next frames belong, in the order in which they should come, and returns
  // how many places are known. The data are what follows the first wire::kBulkHeader bytes. What lands in a
  // wrong place is moved or dropped before the next call.
  virtual std::size_t bulk_places(std::span<iovec> places) = 0;
  // Does as bulk_places(), for a UDP bulk path, where other frames come, too. Sets `header` to the length of
  // what precedes the data of each frame, at most wire::kMediumHeaderMost bytes.
  virtual std::size_t udp_bulk_places(std::span<iovec> places, std::size_t& header) {
    header = wire::kBulkHeader;
    return bulk_places(places);
  }
  // Returns whether a frame is the one that place `index` was meant for. Only its header may be read, though
  // the frame has its full size.
  virtual bool bulk_in_place(std::size_t index, wire::Frame frame) = 0;
  // Takes a frame whose data are in place `index`, in the order of arrival.
  virtual void on_bulk_placed(std::size_t index, wire::Frame frame) = 0;
  // Does as FrameHandler::frames_marked().
  virtual void bulk_marked(bool) {}
  // Takes any other frame, which is valid during the call.
  virtual void on_bulk_frame(wire::Frame frame) = 0;
};

// The transport owns the path. Only the thread that owns the transport may call it.
class BulkPath {
 public:
  virtual ~BulkPath() = default;
  // Opens the path, because large messages are on their way. A call is cheap when the path is open. Returns
  // false when large messages come by Transport::receive() instead.
  virtual bool expect() = 0;
  // Lets large messages come by Transport::receive() again. Frames that are in the path already are read
  // there. Returns false when the path still takes large messages; the caller tries again later.
  virtual bool forgo() = 0;
  // Closes a path that takes no frames and was read until it was empty. A path that could not be opened may
  // be tried again afterwards.
  virtual void close() = 0;
  // Hands up to `budget` frames to the handler, as Transport::receive() does, and returns how many. Costs a
  // system call or two. Never blocks.
  virtual std::size_t receive(BulkHandler& handler, std::size_t budget) = 0;
  // Returns what to sleep on beside Transport::descriptor(), or -1 when there is none now.
  virtual int descriptor() const = 0;
};

}  // namespace omx::link
