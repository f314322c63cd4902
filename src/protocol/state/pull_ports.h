// SPDX-License-Identifier: BSD-3-Clause
// Data that arrive by each board for all running pulls of an endpoint, and the windows that bound them
// (docs/explanation/pulls.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/list.h"
#include "protocol/state/congestion_window.h"
#include "protocol/state/loss_share.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull_pace.h"
#include "protocol/state/timer.h"
#include "protocol/types.h"

namespace omx::protocol {

// State of data that arrive by one board.
struct PullPort {
  CongestionWindow alone, shared;  // with one sender, paced by its own link; with several
  std::uint64_t in_flight = 0;     // sum of the pulls' charges
  // Round trips, from a request to its first reply.
  TimeNs rtt = 0;  // smoothed
  TimeNs rtt_last = 0;
  TimeNs rtt_least = kNever, rtt_least_before = kNever;  // in this period and in the one before
  TimeNs rtt_period = 0;                                 // when this period began
  // The longest silence after which a sender went on by itself, in the same periods.
  TimeNs silence = 0, silence_before = 0;
  TimeNs paced_until = 0;  // the next request leaves then, as the window is smaller than the last one
  LossShare<10> loss;
  // How fast data come while some are on their way. This is measured only with several boards.
  std::uint64_t rate = 0;                 // bytes per millisecond; 0: not known
  std::uint64_t rate_bytes = 0;           // bytes since rate_since
  TimeNs rate_since = 0, rate_known = 0;  // 0: nothing is on its way; time of the last measurement

  // Returns the shortest round trip of the last one or two seconds; kNever: there was none.
  TimeNs rtt_shortest() const { return std::min(rtt_least, rtt_least_before); }
};

// The first port is that of the endpoint's own board.
struct PullSchedule : PullPort {
  List<PeerPulls, &PeerPulls::turn> turns;  // of peers whose pulls may ask for more; the front is next
  std::uint32_t senders = 0;                // peers with running pulls
  std::uint64_t asked = 0;                  // bytes asked for since the endpoint opened
  PullPace pace;                            // pace of pulls by frames from other hosts
  std::uint64_t rung = 0;                   // value of `asked` at the last request whose answer wakes us
  std::array<PullPort, kRailsMost - 1> more;
  Timer timer{TimerKind::pull_schedule};

  PullPort& port(unsigned rail) { return rail == 0 ? *this : more[rail - 1]; }
  const PullPort& port(unsigned rail) const { return rail == 0 ? *this : more[rail - 1]; }

  bool sleeping = false;   // the application sleeps, and few frames should wake it
  TimeNs ahead_after = 0;  // until then a sleeper stays within the window, after losses beyond it

  CongestionWindow& window(unsigned rail = 0) { return senders > 1 ? port(rail).shared : port(rail).alone; }
};

}  // namespace omx::protocol
