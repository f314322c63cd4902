// SPDX-License-Identifier: BSD-3-Clause
// What waiting threads and the progress thread need of the endpoint (leader_loop.h, progress_driver.h).
#pragma once

#include "runtime/endpoint/bulk_reading.h"
#include "runtime/endpoint/burst.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/engine_turn.h"
#include "runtime/endpoint/intra_node.h"
#include "runtime/endpoint/polling.h"
#include "runtime/endpoint/progression.h"
#include "runtime/endpoint/publication.h"
#include "runtime/endpoint/rails.h"
#include "runtime/endpoint/upkeep.h"
#include "runtime/endpoint/waking.h"
#include "runtime/wait/sleeping.h"
#include "runtime/wait/waiting.h"

namespace omx::runtime {

class LeaderTurns final {
 public:
  struct Parts {
    EndpointCore& core;
    const Progression& progression;
    Burst& burst;
    Rails& rails;
    IntraNode& intra_node;
    BulkReading& bulk;
    Publication& publication;
    Upkeep& upkeep;
    OutageWatch& interfaces;
    EngineTurn& turn;
    Polling& polling;
    Waking& waking;
    Waiters& waiters;
    Sleeping& sleeping;
  };
  explicit LeaderTurns(const Parts& parts) : parts_(parts) {}

  // --- EngineTurns ---
  bool turn() { return parts_.turn.run(); }
  bool poll_due() { return parts_.polling.due(Polling::kPolls); }
  bool take(WaitPredicate& predicate) { return predicate.take(*parts_.core.engine); }
  bool copy_end() { return parts_.core.copy_end(); }
  bool moves() const { return !parts_.progression.stopped(); }
  bool pulls_running() const { return parts_.core.engine->pulls_running(); }
  bool sleep(TimeNs deadline);
  void set_sleeping(bool sleeps) { parts_.core.set_sleeping(sleeps); }
  void sleep_learn(bool frames, bool useful);
  void wake_others(const Waiter* self) { parts_.waking.wake_others(self); }

  // --- WaitTurns ---
  bool holds(const Request* request) const { return parts_.core.engine->held(request); }
  bool in_own_handler() const { return parts_.progression.in_own_handler(); }
  void burst_end() { parts_.burst.end(); }
  void count_wakeup() { parts_.core.segment->counters().wakeups++; }

 private:
  TimeNs engine_deadline() const;
  void slice_shorten() const;
  SleepRequest sleep_request(TimeNs deadline);
  void count(SleepEnd::WokenBy by);

  const Parts parts_;
};

}  // namespace omx::runtime
