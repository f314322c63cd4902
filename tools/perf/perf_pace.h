// SPDX-License-Identifier: BSD-3-Clause
// Chooses how many messages the next step of `omx perf` has, so that no step takes long on a slow or busy
// machine. Between two steps the time limit is checked and progress is shown.
#pragma once

#include <algorithm>
#include <cstdint>

namespace omx::tools {

class PerfPace {
 public:
  // Takes the time of a question to the server and its answer.
  explicit PerfPace(double round_trip_s = 0) : step_s_(std::max(kStepSeconds, kRoundTrips * round_trip_s)) {}

  // Messages of the first step, which finds out how long one takes.
  static constexpr std::uint64_t kFirst = 16;
  // Long in comparison with the round trips before and after a step, but short for a person. Where the round
  // trips are long, so are the steps.
  static constexpr double kStepSeconds = 0.5, kRoundTrips = 200;

  // Returns at least one and at most `wanted` messages, and no more than fit into `seconds` or a step.
  std::uint64_t next(std::uint64_t wanted, double seconds = kLongest) const {
    if (each_s_ <= 0) return std::min(wanted, kFirst);
    const double fitting = std::min(seconds, step_s_) / each_s_;
    if (fitting >= static_cast<double>(wanted)) return wanted;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::max(fitting, 1.0)), 1);
  }
  void took(std::uint64_t messages, double seconds) {
    if (messages) each_s_ = seconds / static_cast<double>(messages);
  }

 private:
  static constexpr double kLongest = 1e9;

  double step_s_;
  double each_s_ = 0;  // as the last step measured it; the first step is often slower
};

}  // namespace omx::tools
