// SPDX-License-Identifier: BSD-3-Clause
// A port of a switch with its queue: drop-tail, with a mark for frames that find much waiting, and a record
// of what frames found there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "simulation/engine/port.h"

namespace omx::simulation::fabric {

// How much waited when frames arrived, in steps of a 64th of the queue.
class QueueRecord {
 public:
  static constexpr std::size_t kSteps = 64;

  void add(std::uint64_t waiting, std::uint64_t limit) {
    counts_[std::min<std::uint64_t>(waiting * kSteps / std::max<std::uint64_t>(limit, 1), kSteps - 1)]++;
  }
  void add(const QueueRecord& other) {
    for (std::size_t i = 0; i < kSteps; i++) counts_[i] += other.counts_[i];
  }
  // Returns which part of the queue was full at most for this part of the frames.
  double quantile(double part) const {
    std::uint64_t all = 0, seen = 0;
    for (const std::uint32_t count : counts_) all += count;
    for (std::size_t i = 0; i < kSteps; i++) {
      seen += counts_[i];
      if (all > 0 && static_cast<double>(seen) >= part * static_cast<double>(all))
        return static_cast<double>(i + 1) / kSteps;
    }
    return 0;
  }
  void clear() { counts_ = {}; }

 private:
  std::array<std::uint32_t, kSteps> counts_{};
};

class OutputQueue {
 public:
  OutputQueue(const PortLimits& limits, std::uint64_t mark_bytes)
      : port_(limits), limit_(limits.queue_bytes), mark_bytes_(mark_bytes) {}

  struct Sent {
    TimeNs at = 0;  // when the frame arrives at the other end; 0: it is dropped
    bool marked = false;
  };
  Sent send(TimeNs now, std::uint64_t bytes) {
    const std::uint64_t waiting = port_.queued(now);
    record_.add(waiting, limit_);
    const TimeNs at = port_.send(now, bytes);
    const bool marked = at > 0 && mark_bytes_ > 0 && waiting >= mark_bytes_;
    if (marked) marked_++;
    return {at, marked};
  }
  std::uint64_t limit() const { return limit_; }
  std::uint64_t marked() const { return marked_; }
  const Port& port() const { return port_; }
  QueueRecord& record() { return record_; }

 private:
  Port port_;
  std::uint64_t limit_, mark_bytes_, marked_ = 0;
  QueueRecord record_;
};

}  // namespace omx::simulation::fabric
