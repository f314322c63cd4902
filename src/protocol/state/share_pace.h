// SPDX-License-Identifier: BSD-3-Clause
// How fast large messages inside the host come: read by their receiver alone, or shared with their sender
// (pull_share.cc). The faster way is taken. A few messages try the other one now and then, because it depends
// on what the sender does meanwhile.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

class SharePace {
 public:
  // Returns whether the next message is shared.
  bool choose() {
    if (count_ == kTries) decide();
    if (count_++ < kTries) return !shared_;
    if (count_ == kTries + interval_) count_ = 0;
    return shared_;
  }
  // Takes the time of a message.
  void measured(bool shared, TimeNs took, std::uint32_t bytes) {
    Way& way = ways_[shared];
    way.paces[way.next++ % kTries] = std::max<TimeNs>(took, 1) * kPart / std::max(bytes, 1U);
  }

 private:
  static constexpr std::uint32_t kTries = 3;  // messages; the fastest counts, because others were disturbed
  static constexpr std::uint32_t kOften = 8, kSeldom = 256;  // messages between two trials
  static constexpr std::uint64_t kPart = 64 * 1024;          // a pace is the time of so many bytes

  struct Way {
    std::array<std::uint64_t, kTries> paces{kNever, kNever, kNever};
    std::uint32_t next = 0;
    std::uint64_t best() const { return *std::min_element(paces.begin(), paces.end()); }
  };

  // Takes the other way if it was clearly faster.
  void decide() {
    const std::uint64_t now = ways_[shared_].best(), other = ways_[!shared_].best();
    const bool better = other < now - now / 16;
    shared_ ^= better;
    interval_ = better ? kOften : std::min(2 * interval_, kSeldom);
  }

  std::array<Way, 2> ways_;
  bool shared_ = false;
  std::uint32_t count_ = 0;  // of messages since the last trial began
  std::uint32_t interval_ = kOften;
};

}  // namespace omx::protocol
