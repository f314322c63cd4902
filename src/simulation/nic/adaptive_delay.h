// SPDX-License-Identifier: BSD-3-Clause
// How long frames without a mark wait for one that has it, where the delay follows the traffic. An interrupt
// ahead of the mark lets the host begin sooner. It costs nothing if the handler then finds all that follows,
// up to the mark. Otherwise the message needs another interrupt, and the early one was too early.
//
//   several marks, and no early interrupt was too early -> the delay is halved, as an attempt
//   a mark behind an early interrupt that was too early -> the delay is doubled, and the next attempt is
//   later early interrupts alone, as from peers without marks -> halved where few frames had waited, else
//   doubled
#pragma once

#include <algorithm>
#include <cstdint>

namespace omx::simulation::nic {

class AdaptiveDelay {
 public:
  // The delay begins at `first_ns`. It is 0, so that every frame raises, or `step_ns` and more.
  AdaptiveDelay(double first_ns, double step_ns)
      : most_(std::max(first_ns, kMostNs)), step_(step_ns), delay_(first_ns) {}

  double ns() const { return delay_; }

  // Notes a frame in memory. Returns whether it raises an interrupt at once.
  bool on_frame(bool marked) {
    if (!marked) {
      early_ = early_ || delay_ <= 0;
      return delay_ <= 0;
    }
    if (too_early_)
      failed();
    else if (++marks_ >= attempt_after_)
      attempt();
    early_ = too_early_ = false;
    unmarked_ = 0;
    return true;
  }
  // Notes an interrupt by the timer, for which this number of frames had waited.
  void on_timeout(std::uint32_t waiting) {
    early_ = true;
    if (unmarked_ < kUnmarked) return;
    if (waiting <= 2)
      shorten();
    else
      lengthen();
  }
  // Notes that the handler has ended. `marked`: the last frame that it took was.
  void on_handled(bool marked) {
    if (early_ && !marked) {
      too_early_ = true;
      if (unmarked_ < kUnmarked) unmarked_++;
    }
    early_ = false;
  }

 private:
  static constexpr double kMostNs = 500'000;
  static constexpr std::uint32_t kMarksLeast = 8, kMarksMost = 1024;
  static constexpr std::uint32_t kUnmarked = 32;  // early interrupts without a mark: the peer sets none

  void attempt() {
    marks_ = 0;
    // The attempt before it was right.
    if (!failed_) attempt_after_ = std::max(attempt_after_ / 2, kMarksLeast);
    failed_ = false;
    shorten();
  }
  void failed() {
    marks_ = 0;
    attempt_after_ = std::min(attempt_after_ * 2, kMarksMost);
    failed_ = true;
    lengthen();
  }
  void shorten() { delay_ = delay_ / 2 < step_ ? 0 : delay_ / 2; }
  void lengthen() { delay_ = std::min(std::max(delay_ * 2, step_), most_); }

  double most_, step_, delay_;
  std::uint32_t marks_ = 0, attempt_after_ = kMarksLeast;
  std::uint32_t unmarked_ = 0;  // early interrupts since the last mark
  bool early_ = false;          // the handler runs, or will, for frames without a mark
  bool too_early_ = false;      // it ended ahead of the mark
  bool failed_ = false;         // since the last attempt
};

}  // namespace omx::simulation::nic
