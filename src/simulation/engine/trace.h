// SPDX-License-Identifier: BSD-3-Clause
// A run as readable lines: time, what happened, who sent what to whom.
#pragma once

#include <cstdio>
#include <string>

#include "simulation/engine/events.h"
#include "simulation/engine/frames.h"

namespace omx::simulation {

// "MEDIUM 3 of ..." as far as the header tells: type, numbers, lengths. Never fails: damaged frames are shown
// as what they are.
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
