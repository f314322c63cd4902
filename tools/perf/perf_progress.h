// SPDX-License-Identifier: BSD-3-Clause
// A line on the terminal that says how far a size has come, when it takes longer than one would wait without
// a sign; nothing where stderr is no terminal.
#pragma once

#include <chrono>
#include <cstdint>

namespace omx::tools {

class PerfProgress {
 public:
  PerfProgress(std::uint64_t size, std::uint64_t messages);
  // Takes the line away again.
  ~PerfProgress();
  PerfProgress(const PerfProgress&) = delete;
  PerfProgress& operator=(const PerfProgress&) = delete;

  // `done`: none while warming up.
  void show(std::uint64_t done);

 private:
  const std::uint64_t size_, messages_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

}  // namespace omx::tools
