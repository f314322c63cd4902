// SPDX-License-Identifier: BSD-3-Clause
// Shows on the terminal how far a size has come, if it takes more than half a second. Prints nothing if
// stderr is no terminal.
#pragma once

#include <chrono>
#include <cstdint>

namespace omx::tools {

class PerfProgress {
 public:
  // Shows nothing if not `wanted`.
  PerfProgress(std::uint64_t size, std::uint64_t messages, bool wanted);
  // Erases the line.
  ~PerfProgress();
  PerfProgress(const PerfProgress&) = delete;
  PerfProgress& operator=(const PerfProgress&) = delete;

  // Shows that `done` messages are complete; 0 during the warm-up.
  void show(std::uint64_t done);

 private:
  const std::uint64_t size_, messages_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

}  // namespace omx::tools
