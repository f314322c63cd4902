// SPDX-License-Identifier: BSD-3-Clause
// A line on the terminal that says how far a size has come; nothing where stderr is no terminal.
#pragma once

#include <cstdint>

namespace omx::tools {

class PerfProgress {
 public:
  PerfProgress(std::uint64_t size, std::uint64_t messages);
  // Takes the line away again.
  ~PerfProgress();
  PerfProgress(const PerfProgress&) = delete;
  PerfProgress& operator=(const PerfProgress&) = delete;

  void show(std::uint64_t done, double seconds) const;

 private:
  const std::uint64_t size_, messages_;
  const bool terminal_;
};

}  // namespace omx::tools
