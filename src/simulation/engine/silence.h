// SPDX-License-Identifier: BSD-3-Clause
// How long each host has run without being able to hear another one. Decides whether a failure between the
// two is explained, and when a request must have ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulation/engine/events.h"

namespace omx::simulation {

class Silence {
 public:
  // A host gives up another one after `timeout`. Two hosts that hear each other for `talk` without a break
  // have certainly heard each other, whatever is lost.
  Silence(std::uint32_t hosts, TimeNs timeout, TimeNs talk)
      : hosts_(hosts), timeout_(timeout), talk_(talk), pairs_(std::size_t{hosts} * hosts) {}

  // Sets whether `host` runs, and whether it and `other` hear each other, from now on.
  void set(std::uint32_t host, std::uint32_t other, bool runs, bool able, TimeNs now) {
    Pair& p = pair(host, other);
    advance(p, now);
    if (able && !p.able) p.together = now;
    p.runs = runs;
    p.able = able;
  }
  // Returns the last time until now at which one of the two may have given up the other; 0: never.
  TimeNs excused(std::uint32_t a, std::uint32_t b, TimeNs now) {
    advance(pair(a, b), now);
    advance(pair(b, a), now);
    return std::max(pair(a, b).excused, pair(b, a).excused);
  }
  // Returns how long `host` has run in all.
  TimeNs ran(std::uint32_t host, std::uint32_t other, TimeNs now) {
    advance(pair(host, other), now);
    return pair(host, other).ran;
  }
  // Returns how long the two have been able to hear each other.
  TimeNs together(std::uint32_t host, std::uint32_t other, TimeNs now) {
    const Pair& p = pair(host, other);
    return p.able ? now - p.together : 0;
  }
  TimeNs timeout() const { return timeout_; }
  TimeNs talk() const { return talk_; }

 private:
  struct Pair {
    bool runs = true, able = true;
    TimeNs since = 0;     // time of the values below
    TimeNs together = 0;  // since when the two can hear each other
    TimeNs ran = 0;
    TimeNs silent = 0;  // time run since the two had last certainly heard each other
    TimeNs excused = 0;
  };
  Pair& pair(std::uint32_t host, std::uint32_t other) { return pairs_[host * hosts_ + other]; }

  void advance(Pair& p, TimeNs now) {
    const TimeNs ran = p.runs ? now - p.since : 0;
    p.since = now;
    p.ran += ran;
    if (!p.able) p.silent += ran;
    const bool long_enough = p.silent >= timeout_ - talk_;
    const bool heard = p.able && now - p.together >= talk_;
    if (long_enough) p.excused = heard ? std::max(p.excused, p.together + talk_) : now;
    if (heard) p.silent = 0;
  }

  std::uint32_t hosts_;
  TimeNs timeout_, talk_;
  std::vector<Pair> pairs_;
};

}  // namespace omx::simulation
