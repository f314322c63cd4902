// SPDX-License-Identifier: BSD-3-Clause
// How long each host has run without being able to hear another one: what decides whether a failure between
// the two is explained, and when a request must have ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulation/engine/events.h"

namespace omx::simulation {

class Silence {
 public:
  // A host gives another one up after `timeout`. Two hosts that hear each other for `talk` without a break
  // have certainly heard each other, whatever is lost.
  Silence(std::uint32_t hosts, TimeNs timeout, TimeNs talk)
      : hosts_(hosts), timeout_(timeout), talk_(talk), pairs_(std::size_t{hosts} * hosts) {}

  // From now on `host` runs or not, and hears `other`, who hears it, or not.
  void set(std::uint32_t host, std::uint32_t other, bool runs, bool able, TimeNs now) {
    Pair& p = pair(host, other);
    advance(p, now);
    if (able && !p.able) p.together = now;
    p.runs = runs;
    p.able = able;
  }
  // The last time until now at which one of the two may have given up the other; 0: never.
  TimeNs excused(std::uint32_t a, std::uint32_t b, TimeNs now) {
    advance(pair(a, b), now);
    advance(pair(b, a), now);
    return std::max(pair(a, b).excused, pair(b, a).excused);
  }
  // How long `host` has run in all.
  TimeNs ran(std::uint32_t host, std::uint32_t other, TimeNs now) {
    advance(pair(host, other), now);
    return pair(host, other).ran;
  }
  // How long they have been able to.
  TimeNs together(std::uint32_t host, std::uint32_t other, TimeNs now) {
    const Pair& p = pair(host, other);
    return p.able ? now - p.together : 0;
  }
  TimeNs timeout() const { return timeout_; }
  TimeNs talk() const { return talk_; }

 private:
  struct Pair {
    bool runs = true, able = true;
    TimeNs since = 0;     // of what follows
    TimeNs together = 0;  // able since then
    TimeNs ran = 0;
    TimeNs silent = 0;  // run since they last had certainly heard each other
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
