// SPDX-License-Identifier: BSD-3-Clause
// The receive ring is a facet of a transport: frames of Transport::receive() can stay in it while copies
// read them. A transport with a ring can take large messages from the ring as well as by a bulk path.
#pragma once

#include <cstdint>

namespace omx::link {

// The transport owns the ring. Only the thread that owns the transport may call it. Tickets are those of
// FrameHandler::frame_held().
class Ring {
 public:
  virtual ~Ring() = default;
  // Lets frames stay from now on. Returns false when this ring cannot do that.
  virtual bool hold_enable() = 0;
  // Returns how many frames stay in the ring. While the ring is full, no frame arrives.
  virtual std::uint32_t held() const = 0;
  virtual std::uint32_t room() const = 0;
  // Gives back the frames whose copies have ended, up to this ticket.
  virtual void give_back(std::uint64_t ticket) = 0;
  // Never uses this memory for frames again, because a copy that hangs may read it indefinitely. Frames that
  // wait are lost.
  virtual void abandon() = 0;
};

}  // namespace omx::link
