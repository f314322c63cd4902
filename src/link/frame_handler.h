// SPDX-License-Identifier: BSD-3-Clause
// Takes the frames that a transport received.
#pragma once

#include <cstdint>

#include "wire/codec.h"

namespace omx::link {

class FrameHandler {
 public:
  virtual ~FrameHandler() = default;
  // `frame` is valid during the call only, unless frame_held() says otherwise.
  virtual void on_frame(wire::Frame frame) = 0;
  // After on_frame: the ticket of the copy that still reads the frame; 0: nobody does. Asked of links that
  // may_hold().
  virtual std::uint64_t frame_held() { return 0; }
  // The network says that nobody takes this frame of ours where it went: all of it, or as much as came back,
  // at least wire::kHeadBytes. Who says so may lie.
  virtual void on_refused(wire::Frame) {}
};

}  // namespace omx::link
