// SPDX-License-Identifier: BSD-3-Clause
// The receive ring is a facet of a transport: frames of Transport::receive() can stay in it while copies
// read them. If hold_enable() succeeds, large messages can be copied from the ring, too.
#pragma once

#include <cstdint>

namespace omx::link {

// The transport owns the ring. Functions are called by one thread at a time, as those of the transport.
// Tickets are those of FrameHandler::frame_held().
class Ring {
 public:
  virtual ~Ring() = default;
  // Lets frames stay from now on. Returns false when this ring cannot do that.
  virtual bool hold_enable() = 0;
  // Returns how many frames stay in the ring. While all slots hold one, no frame arrives.
  virtual std::uint32_t held() const = 0;
  // Returns how many slots the ring has; 0 while frames cannot stay.
  virtual std::uint32_t slots() const = 0;
  // Gives back the frames whose copies have ended, up to this ticket.
  virtual void give_back(std::uint64_t ticket) = 0;
  // Replaces the ring's memory, because a failed copy may still read the old one. Frames that wait in it are
  // lost.
  virtual void abandon() = 0;
};

}  // namespace omx::link
