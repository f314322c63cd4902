// SPDX-License-Identifier: BSD-3-Clause
// Which pull may ask for how much, and when: all large messages that arrive at an endpoint share one budget
// of bytes asked for and not yet here (docs/pulls.md). Without it the senders of several messages overrun the
// last switch port together, and each loss makes them do it again.
#pragma once

#include <cstdint>

#include "base/list.h"
#include "protocol/partner.h"
#include "protocol/timer.h"

namespace omx::protocol {

// Bytes that may be in flight. Grows while all arrives, shrinks by losses.
struct PullWindow {
  std::uint32_t bytes = 0;
  bool doubling = true;       // until the first sign that it is large enough
  std::uint64_t reacted = 0;  // losses of what was asked before this position were the same event
};

struct PullSchedule {
  List<Partner, &Partner::pull_turn> turns;  // whose pulls have something to ask for; the front is next
  std::uint32_t senders = 0;                 // partners with running pulls
  PullWindow alone, shared;                  // with one sender, whose own link paces it; with several
  std::uint64_t in_flight = 0;               // sum of the pulls' charges
  std::uint64_t asked = 0;                   // bytes since the endpoint opened
  std::uint64_t rung = 0;                    // `asked`, when an answer was asked for that wakes us
  // From a request to its first reply.
  TimeNs rtt = 0;  // smoothed
  TimeNs rtt_last = 0;
  TimeNs rtt_least = kNever, rtt_least_before = kNever;  // in this period and in the one before
  TimeNs rtt_period = 0;                                 // when this one began
  // The longest silence of a sender that went on by itself, in the same periods.
  TimeNs silence = 0, silence_before = 0;
  Timer timer{TimerKind::pull_schedule};

  bool drowsy = false;  // the application sleeps: few frames should wake it

  PullWindow& window() { return senders > 1 ? shared : alone; }
};

}  // namespace omx::protocol
