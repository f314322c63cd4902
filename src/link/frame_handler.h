// SPDX-License-Identifier: BSD-3-Clause
// The interface of what takes the frames that a transport received.
#pragma once

#include <cstdint>

#include "wire/codec.h"

namespace omx::link {

class FrameHandler {
 public:
  virtual ~FrameHandler() = default;
  // Takes a frame. `frame` is valid only during the call, unless frame_held() says otherwise.
  virtual void on_frame(wire::Frame frame) = 0;
  // Returns, after on_frame(), the ticket of the copy that still reads the frame, or 0 when no copy reads
  // it. Only a link with an enabled ring calls this (Ring::hold_enable()).
  virtual std::uint64_t frame_held() { return 0; }
  // Notes whether a queue on the path marked the frames that follow (ECN), until the next call.
  virtual void frames_marked(bool) {}
  // Takes a frame of ours that the network reported as refused at its destination. The frame is whole, or as
  // much of it as came back, at least wire::kHeadBytes. The report may be forged.
  virtual void on_refused(wire::Frame) {}
};

}  // namespace omx::link
