// SPDX-License-Identifier: BSD-3-Clause
// How fast large messages come by frames of other hosts, while any are on their way: by which two ways of
// taking them in can be compared (docs/copy-engines.md).
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/config.h"

namespace omx::protocol {

class PullPace {
 public:
  // A pull begins, and ends.
  void enter(TimeNs now) {
    if (running_++ == 0) since_ = now - std::min(now - until_, kMoment);
  }
  void leave(TimeNs now) {
    if (--running_ > 0) return;
    busy_ += now - since_;
    until_ = now;
  }
  void arrived(std::uint32_t bytes) { bytes_ += bytes; }

  std::uint64_t bytes() const { return bytes_; }
  // How long some pull ran, with the moments between messages in a row.
  TimeNs busy(TimeNs now) const { return busy_ + (running_ > 0 ? now - std::min(since_, now) : 0); }

 private:
  // From the end of a message to the next one's announcement: of a longer time this much, so that one a
  // little longer does not count for nothing.
  static constexpr TimeNs kMoment = kMillisecond / 10;

  std::uint32_t running_ = 0;
  std::uint64_t bytes_ = 0;
  TimeNs busy_ = 0, since_ = 0, until_ = 0;
};

}  // namespace omx::protocol
