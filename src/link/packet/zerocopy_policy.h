// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a batch leaves without the kernel's copy: datagrams by MSG_ZEROCOPY, raw frames by a
// transmit ring. Makes no system call and reads no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "netdev/zerocopy_mode.h"

namespace omx::link {

//           rest is over                16 batches each way
//   resting ------------> trying ----------------------------> in use
//    ^  ^                   |    without a copy was cheaper    |   |
//    |  +-------------------+                                  |   | after a while
//    |    it was not, or the kernel copied all the same        |   +--> trying
//    +---------------------------------------------------------+
//         the kernel copies, or refuses
//
// Where packets stay in this machine, or a program captures them, the kernel copies all the same and reports
// that. The longer trials fail, the rarer they are.
class ZerocopyPolicy {
 public:
  explicit ZerocopyPolicy(ZerocopyMode mode) : mode_(mode) {}

  // Returns whether the next batch should leave without a copy.
  bool wants() const;
  // Returns whether sent() is to be told how long the next batch takes.
  bool measures() const { return mode_ == ZerocopyMode::automatic && state_ == State::trying; }
  // A batch left, in one try. `took`: the time of all calls that it needed.
  void sent(bool without_copy, std::size_t bytes, TimeNs took);
  // The kernel reported batches that left without a copy, or should have.
  void reported(std::uint32_t batches, bool copied);
  // A batch cannot leave without a copy: it has too many pieces, or limits of the kernel are reached.
  void refused();

  // Batches until the first trial, and after a trial that failed: the least, and the most.
  static constexpr std::uint32_t kFirst = 32, kRestLeast = 1024, kRestMost = 1 << 20;
  // Batches of each kind in a trial.
  static constexpr std::uint32_t kSamples = 16;
  // Batches until a trial that succeeded is repeated.
  static constexpr std::uint32_t kUse = 8192;
  // Batches that the kernel copied, or refused, before the next rest.
  static constexpr std::uint32_t kFailuresMost = 4;

 private:
  enum class State : std::uint8_t { resting, trying, in_use };
  using Samples = std::array<std::uint64_t, kSamples>;

  void rest();
  void trial_begin();
  void judge();

  ZerocopyMode mode_;
  State state_ = State::resting;
  std::uint32_t left_ = kFirst;  // batches until the next trial
  std::uint32_t rest_ = kRestLeast;
  std::uint32_t failures_ = 0;
  std::array<Samples, 2> samples_{};  // ns for each MiB: with a copy, without
  std::array<std::uint32_t, 2> counts_{};
};

}  // namespace omx::link
