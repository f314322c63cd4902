// SPDX-License-Identifier: BSD-3-Clause
// When hosts could hear each other. Decides whether silence explains a failure.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/engine/events.h"

namespace omx::simulation {

class Contact {
 public:
  // Two hosts that can hear each other for `talk` without a break have heard each other, whatever is lost.
  Contact(std::uint32_t hosts, TimeNs talk) : hosts_(hosts), talk_(talk), pairs_(hosts * hosts) {}

  void set(std::uint32_t a, std::uint32_t b, bool able, TimeNs now) {
    Pair& p = pair(a, b);
    if (p.able == able) return;
    p.good = last(a, b, now);
    p.able = able;
    p.since = now;
  }
  // Returns since when the two cannot hear each other, or kNever if they can.
  TimeNs apart_since(std::uint32_t a, std::uint32_t b) {
    return pair(a, b).able ? protocol::kNever : pair(a, b).since;
  }
  // Returns since when the two can hear each other, or kNever if they cannot.
  TimeNs together_since(std::uint32_t a, std::uint32_t b) {
    return pair(a, b).able ? pair(a, b).since : protocol::kNever;
  }
  // Returns the last time at which the two had certainly heard each other.
  TimeNs last(std::uint32_t a, std::uint32_t b, TimeNs now) {
    const Pair& p = pair(a, b);
    return p.able && now - p.since >= talk_ ? now : p.good;
  }
  TimeNs talk() const { return talk_; }
  // Returns whether the silence is so long that a host that waits for `timeout` may have given up the other.
  bool silent(std::uint32_t a, std::uint32_t b, TimeNs now, TimeNs timeout) {
    return now - last(a, b, now) >= timeout - talk_;
  }

 private:
  struct Pair {
    bool able = true;
    TimeNs since = 0;
    TimeNs good = 0;
  };
  Pair& pair(std::uint32_t a, std::uint32_t b) { return pairs_[a < b ? a * hosts_ + b : b * hosts_ + a]; }

  std::uint32_t hosts_;
  TimeNs talk_;
  std::vector<Pair> pairs_;
};

}  // namespace omx::simulation
