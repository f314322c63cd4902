// SPDX-License-Identifier: BSD-3-Clause
// One direction of a cable with the queue before it: a sender's NIC or a port of a switch. Frames that do not
// fit into the queue are dropped at its tail.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulation/engine/events.h"

namespace omx::simulation {

struct PortLimits {
  std::uint64_t bits_per_second = 10'000'000'000;
  TimeNs delay = 1'000;                    // of the cable
  std::uint64_t queue_bytes = 1ULL << 20;  // waiting bytes, including the frame being sent
};

struct PortCounters {
  std::uint64_t frames = 0, bytes = 0;  // sent; bytes as on the cable
  std::uint64_t dropped = 0;
  std::uint64_t deepest = 0;  // bytes in the queue
};

class Port {
 public:
  // Preamble, frame check sequence and gap, which are not part of a frame's bytes.
  static constexpr std::uint64_t kCableBytes = 24;

  explicit Port(const PortLimits& limits) : limits_(limits) {}

  // Returns when a frame that is handed over now arrives at the other end, or 0 if it is dropped.
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
  // Stops sending for this time.
  void stall(TimeNs now, TimeNs time) { free_at_ = std::max(free_at_, now) + time; }

  // Takes bytes of others between two times: such a part of the rate, while less than the bytes of the time
  // `most` wait.
  void others(TimeNs from, TimeNs to, unsigned percent, TimeNs most) {
    TimeNs waits = std::max(free_at_, from) - from, time = to - from;
    if (waits > most) {
      if (waits - most >= time) return;
      time -= waits - most;
      waits = most;
    }
    waits += time * percent / 100;
    free_at_ = to + std::min(most, waits - std::min(waits, time));
  }

  TimeNs time_of(std::uint64_t cable_bytes) const {
    return (cable_bytes * 8'000'000'000ULL + limits_.bits_per_second - 1) / limits_.bits_per_second;
  }
  // Returns how many bytes wait now, from the time until the port is free.
  std::uint64_t queued(TimeNs now) const {
    if (free_at_ <= now) return 0;
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(free_at_ - now) *
                                      limits_.bits_per_second / 8'000'000'000ULL);
  }
  // Returns how many bytes still fit into the queue.
  std::uint64_t room(TimeNs now) const {
    return limits_.queue_bytes - std::min(limits_.queue_bytes, queued(now));
  }
  const PortLimits& limits() const { return limits_; }
  const PortCounters& counters() const { return counters_; }

 private:
  PortLimits limits_;
  PortCounters counters_;
  TimeNs free_at_ = 0;
};

}  // namespace omx::simulation
