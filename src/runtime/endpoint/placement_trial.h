// SPDX-License-Identifier: BSD-3-Clause
// Chooses what puts the frames of large messages into their place. The kernel does it with a socket for them
// (one copy less). This library does it from the receive ring (no system calls, and one socket less that
// each frame is offered to). Which is faster differs between machines by a quarter in either direction, and
// a processor's name does not tell. So both ways are tried in turn with the messages that come, and the
// better one is kept (docs/explanation/copies.md).
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"

namespace omx::runtime {

class PlacementTrial {
 public:
  // Starts the trial; before it the kernel places the frames. The first pass through the ring, `first`
  // bytes, is not measured, since that memory is in no cache yet.
  void begin(std::uint64_t first);
  bool by_kernel() const { return by_kernel_; }
  // Returns whether a trial has ended. Until the next one, the way that was not chosen is not needed.
  bool settled() const { return sample_ == kSamples; }
  // Returns whether the trial ended after both ways were tried.
  bool compared() const { return settled() && !refused_; }

  // Takes how many bytes came by frames up to now, and how long something was on its way.
  void heard(std::uint64_t bytes, TimeNs busy) {
    if (begun_ && bytes >= next_) turn(bytes, busy);
  }
  // Says that the other way is not available now. Keeps this one until another trial is due.
  void refused(std::uint64_t bytes, bool by_kernel);

  // Return the median of a trial in bytes per millisecond; 0 if not tried yet.
  std::uint64_t kernel_rate() const { return rates_[1]; }
  std::uint64_t ring_rate() const { return rates_[0]; }

 private:
  static constexpr unsigned kTrialsEach = 5, kSamples = 2 * kTrialsEach;  // both ways in turn

  void turn(std::uint64_t bytes, TimeNs busy);
  void settle(std::uint64_t bytes, bool by_kernel, bool as_before);

  bool begun_ = false, by_kernel_ = true, refused_ = false;
  bool measuring_ = false;
  unsigned sample_ = 0;
  std::uint64_t next_ = 0, from_ = 0, hold_ = 0;
  TimeNs busy_ = 0;
  std::array<std::array<std::uint64_t, kTrialsEach>, 2> samples_{};
  std::array<std::uint64_t, 2> rates_{};
};

}  // namespace omx::runtime
