// SPDX-License-Identifier: BSD-3-Clause
// What arrives by each board for all running pulls of an endpoint, and the windows that bound it
// (docs/explanation/pulls.md).
#pragma once

#include <array>
#include <cstdint>

#include "base/list.h"
#include "protocol/state/partner.h"
#include "protocol/state/pull_pace.h"
#include "protocol/state/timer.h"
#include "protocol/types.h"

namespace omx::protocol {

// Bytes that may be in flight. Grows while all arrives, shrinks by losses.
struct PullWindow {
  std::uint32_t bytes = 0;
  bool doubling = true;       // until the first sign that it is large enough
  std::uint64_t reacted = 0;  // losses of what was asked before this position were the same event
};

// What arrives by one board.
struct PullPort {
  PullWindow alone, shared;     // with one sender, whose own link paces it; with several
  std::uint64_t in_flight = 0;  // sum of the pulls' charges
  // From a request to its first reply.
  TimeNs rtt = 0;  // smoothed
  TimeNs rtt_last = 0;
  TimeNs rtt_least = kNever, rtt_least_before = kNever;  // in this period and in the one before
  TimeNs rtt_period = 0;                                 // when this one began
  // The longest silence of a sender that went on by itself, in the same periods.
  TimeNs silence = 0, silence_before = 0;
  std::uint32_t loss = 0;  // share of the last frames, of 2^28
  // How fast it comes while something is on its way; measured only where there are several boards.
  std::uint64_t rate = 0;                 // bytes in a millisecond; 0: not known
  std::uint64_t rate_bytes = 0;           // since then:
  TimeNs rate_since = 0, rate_known = 0;  // 0: nothing was on its way; when it was measured last
};

// The first port is that of the endpoint's own board.
struct PullSchedule : PullPort {
  List<Partner, &Partner::pull_turn> turns;  // whose pulls have something to ask for; the front is next
  std::uint32_t senders = 0;                 // partners with running pulls
  std::uint64_t asked = 0;                   // bytes since the endpoint opened
  PullPace pace;                             // of pulls by frames of other hosts
  std::uint64_t rung = 0;                    // `asked`, when an answer was asked for that wakes us
  std::array<PullPort, kRailsMost - 1> more;
  Timer timer{TimerKind::pull_schedule};

  PullPort& port(unsigned rail) { return rail == 0 ? *this : more[rail - 1]; }
  const PullPort& port(unsigned rail) const { return rail == 0 ? *this : more[rail - 1]; }

  bool drowsy = false;     // the application sleeps: few frames should wake it
  TimeNs ahead_after = 0;  // not before this a sleeper asks for more than the window: some of that was lost

  PullWindow& window(unsigned rail = 0) { return senders > 1 ? port(rail).shared : port(rail).alone; }
};

}  // namespace omx::protocol
