// SPDX-License-Identifier: BSD-3-Clause
// When a NIC raises interrupts: what its firmware does for each frame, as a state machine to which the time
// is handed.
//
//   frame arrives -> on_arrival -> (DMA) -> on_dma_done: true = raise now
//                                                        false = wait for the timeout, which the first
//                                                        waiting frame began
//   timeout expired -> on_timeout: raise
//   handler ended   -> on_handled
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "simulation/nic/adaptive_delay.h"

namespace omx::simulation::nic {

enum class Strategy : std::uint8_t {
  off,       // an interrupt for each frame
  timeout,   // after a fixed time
  openmx,    // Algorithm 1 of the coalescing paper: at once for marked frames, for others after the time
  stream,    // Algorithm 2: as openmx, but postponed while other frames are on their way to memory
  adaptive,  // that paper's future work: as openmx, and the time follows the traffic (adaptive_delay.h)
};
inline constexpr std::string_view kStrategyNames[] = {"off", "timeout", "openmx", "stream", "adaptive"};
inline std::optional<Strategy> strategy_named(std::string_view name) {
  const auto* found = std::find(std::begin(kStrategyNames), std::end(kStrategyNames), name);
  if (found == std::end(kStrategyNames)) return std::nullopt;
  return static_cast<Strategy>(found - std::begin(kStrategyNames));
}

class Moderator {
 public:
  // `most_waiting` is the number of frames that raise an interrupt whatever the time is. 0: any number may
  // wait.
  Moderator(Strategy strategy, double timeout_ns, double step_ns, double most_waiting = 0)
      : strategy_(strategy), timeout_(timeout_ns), delay_(timeout_ns, step_ns), most_waiting_(most_waiting) {}

  void on_arrival() { pending_++; }

  bool on_dma_done(bool marked) {
    pending_--;
    waiting_++;
    // An interrupt by that limit tells the adaptive rule nothing, as no delay would have avoided it.
    if (timeout_ <= 0 || (most_waiting_ > 0 && waiting_ >= most_waiting_)) return true;
    switch (strategy_) {
      case Strategy::off:
        return true;
      case Strategy::timeout:
        return false;
      case Strategy::openmx:
        return marked;
      case Strategy::adaptive:
        return delay_.on_frame(marked);
      case Strategy::stream:
        if (pending_ == 0) {
          const bool raise = marked || deferred_;
          if (raise) deferred_ = false;
          return raise;
        }
        if (marked) deferred_ = true;
        return false;
    }
    return true;
  }

  void on_timeout() {
    deferred_ = false;
    if (strategy_ == Strategy::adaptive) delay_.on_timeout(waiting_);
  }

  // Notes that an interrupt was raised, by whatever cause, or that the host polled.
  void on_raised() { waiting_ = 0; }

  // Notes that the handler has ended. `marked`: the last frame that it took was.
  void on_handled(bool marked) {
    if (strategy_ == Strategy::adaptive) delay_.on_handled(marked);
  }

  double timeout() const { return strategy_ == Strategy::adaptive ? delay_.ns() : timeout_; }
  std::uint32_t pending() const { return pending_; }
  bool deferred() const { return deferred_; }

 private:
  Strategy strategy_;
  double timeout_;
  AdaptiveDelay delay_;
  double most_waiting_;
  std::uint32_t pending_ = 0;  // arrived, DMA not done
  std::uint32_t waiting_ = 0;  // in memory since the last interrupt
  bool deferred_ = false;
};

}  // namespace omx::simulation::nic
