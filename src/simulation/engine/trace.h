// SPDX-License-Identifier: BSD-3-Clause
// Writes a run as readable lines: time, event, sender and receiver.
#pragma once

#include <cstdio>
#include <string>

#include "simulation/engine/events.h"
#include "simulation/engine/frames.h"

namespace omx::simulation {

// Returns "#7 0->1 MEDIUM number 1:37 ... (1052 bytes)", as far as the header tells. Never fails: damaged
// frames are shown as they are.
std::string frame_text(const SimFrame& frame);

class Trace {
 public:
  explicit Trace(std::FILE* out) : out_(out) {}
  void frame(TimeNs now, const char* what, const SimFrame& frame);
  void line(TimeNs now, const std::string& text);

 private:
  std::FILE* out_;
};

}  // namespace omx::simulation
