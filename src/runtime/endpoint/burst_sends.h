// SPDX-License-Identifier: BSD-3-Clause
// Bursts of short messages. From the fifth send in a row on, messages wait for the next ones to share their
// frame, at most some tens of microseconds. Calls that wait, poll and find nothing, or end something (close,
// disconnect, stop progression) send them. If none is made, as the application computes, the progress thread
// sends them: it is told when a first message waits, and polls often until bursts have ended for a while. A
// lone message never waits, and where there is no progress thread none does.
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

  // For each send: whether more are likely to follow at once, so that it may wait for them.
  bool goes_on();
  // Whether another thread looks after what waits when the application does not.
  bool may_hold() { return progress_.runs() && !progression_.stopped() && !waiters_.asleep(); }
  // After it: looks after what may be waiting, and now and then at the link.
  void sent() {
    if (core_.engine->held()) [[unlikely]]
      held();
    if (burst_.turn_due()) turn();
  }
  // A turn between two sends of a burst.
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
