// SPDX-License-Identifier: BSD-3-Clause
// Bursts of short messages. From the fifth send in a row to one peer on, messages wait for the next ones to
// share their frame, at most some tens of microseconds, or half a millisecond on a busy host. Three kinds of
// calls send them: calls that wait, polls that find nothing, and calls that end something (close, disconnect,
// stop progression). If the application computes and makes no call, the progress thread sends them. It is
// expedited when a first message waits, and polls often until bursts have ended for a while. A lone message
// never waits, nor does any message without a progress thread.
#pragma once

#include "runtime/endpoint/burst.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/engine_turn.h"
#include "runtime/endpoint/progression.h"
#include "runtime/wait/progress_driver.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

class BurstSends {
 public:
  BurstSends(EndpointCore& core, const Progression& progression, Burst& burst, EngineTurn& turn,
             ProgressDriver& progress, Waiters& waiters)
      : core_(core),
        progression_(progression),
        burst_(burst),
        turn_(turn),
        progress_(progress),
        waiters_(waiters) {}

  // Counts a send to the peer that the caller names `to`. Returns whether more are likely to follow at once,
  // so that this one may wait for them.
  bool goes_on(std::uint64_t to);
  // Returns whether another thread sends the messages that wait if the application makes no call.
  bool may_hold() { return progress_.runs() && !progression_.stopped() && !waiters_.asleep(); }
  // Takes care of messages that may be waiting, after a send. Now and then takes a turn of the link.
  void sent() {
    if (core_.engine->held_any()) [[unlikely]]
      held();
    if (burst_.turn_due()) turn();
  }
  // Takes a turn between two sends of a burst.
  void turn();

 private:
  void held();

  EndpointCore& core_;
  const Progression& progression_;
  Burst& burst_;
  EngineTurn& turn_;
  ProgressDriver& progress_;
  Waiters& waiters_;
};

}  // namespace omx::runtime
