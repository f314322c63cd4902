// SPDX-License-Identifier: BSD-3-Clause
// How many messages the next step of `omx perf` may have, so that no step takes long on a machine that is
// slow or busy: between two steps a limit of time is seen, and progress is shown.
#pragma once

#include <algorithm>
#include <cstdint>

namespace omx::tools {

class PerfPace {
 public:
  // Unknown speed: a few messages tell it.
  static constexpr std::uint64_t kFirst = 16;
  // Long beside what a step costs before and after it (some round trips), short for a person.
  static constexpr double kStepSeconds = 0.5;

  // At least one, at most `wanted`; no more than take `seconds` where that is less than a step may.
  std::uint64_t next(std::uint64_t wanted, double seconds = kStepSeconds) const {
    if (each_s_ <= 0) return std::min(wanted, kFirst);
    const double fitting = std::min(seconds, kStepSeconds) / each_s_;
    if (fitting >= static_cast<double>(wanted)) return wanted;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::max(fitting, 1.0)), 1);
  }
  void took(std::uint64_t messages, double seconds) {
    if (messages) each_s_ = seconds / static_cast<double>(messages);
  }

 private:
  double each_s_ = 0;  // of the last step: the one before may have been the first of all, which is slow
};

}  // namespace omx::tools
