// SPDX-License-Identifier: BSD-3-Clause
// One direction of a cable, with the queue before it: a sender's NIC or a port of a switch. What does not fit
// into the queue is dropped at its tail.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulation/engine/events.h"

namespace omx::simulation {

struct PortLimits {
  std::uint64_t bits_per_second = 10'000'000'000;
  TimeNs delay = 1'000;                    // of the cable
  std::uint64_t queue_bytes = 1ULL << 20;  // waiting, the frame being sent included
};

struct PortCounters {
  std::uint64_t frames = 0, bytes = 0;  // sent, bytes as on the cable
  std::uint64_t dropped = 0;
  std::uint64_t deepest = 0;  // bytes in the queue
};

class Port {
 public:
  // Preamble, frame check sequence and gap; a frame's bytes do not include them.
  static constexpr std::uint64_t kCableBytes = 24;

  explicit Port(const PortLimits& limits) : limits_(limits) {}

  // When a frame that is handed over now has arrived at the other end; 0: dropped.
  TimeNs send(TimeNs now, std::uint64_t bytes) {
    const std::uint64_t waiting = queued(now);
    if (waiting + bytes > limits_.queue_bytes) {
      counters_.dropped++;
      return 0;
    }
    counters_.deepest = std::max(counters_.deepest, waiting + bytes);
    counters_.frames++;
    counters_.bytes += bytes + kCableBytes;
    free_at_ = std::max(free_at_, now) + time_of(bytes + kCableBytes);
    return free_at_ + limits_.delay;
  }
  // Nothing leaves for this long.
  void stall(TimeNs now, TimeNs time) { free_at_ = std::max(free_at_, now) + time; }

  TimeNs time_of(std::uint64_t cable_bytes) const {
    return (cable_bytes * 8'000'000'000ULL + limits_.bits_per_second - 1) / limits_.bits_per_second;
  }
  // Bytes that wait now: what the time until the port is free amounts to.
  std::uint64_t queued(TimeNs now) const {
    if (free_at_ <= now) return 0;
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(free_at_ - now) *
                                      limits_.bits_per_second / 8'000'000'000ULL);
  }
  const PortCounters& counters() const { return counters_; }

 private:
  PortLimits limits_;
  PortCounters counters_;
  TimeNs free_at_ = 0;
};

}  // namespace omx::simulation
