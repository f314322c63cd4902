// SPDX-License-Identifier: BSD-3-Clause
// Turns for callers that poll. A turn is taken, and the clock read, only when frames wait, and now and then
// for the deadlines.
#pragma once

#include "runtime/endpoint/burst.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/engine_turn.h"
#include "runtime/wait/oversubscription.h"
#include "runtime/wait/progress_driver.h"
#include "runtime/wait/spin_budget.h"

namespace omx::runtime {

class Polling {
 public:
  // How many polls share one lock and unlock, so that a frame is seen sooner.
  static constexpr unsigned kPolls = 8;

  Polling(EndpointCore& core, Burst& burst, EngineTurn& turn, ProgressDriver& progress, SpinBudget& budget)
      : core_(core), burst_(burst), turn_(turn), progress_(progress), spin_budget_(budget) {}

  // Takes the kind of link, once, when the link is open.
  void open() { polls_are_calls_ = core_.link->datagram() != nullptr; }

  // Takes a turn if one is due. Returns whether frames came.
  bool turn() { return turn(polls_are_calls_ ? 1 : kPolls); }
  // Takes a turn if frames are found within this many polls. With 0 polls only timers make a turn due.
  bool turn(unsigned polls) {
    burst_.end();
    progress_.polled();
    if (core_.sleeping()) [[unlikely]]
      core_.set_sleeping(false);
    spin_budget_.yields_are(false);
    found_frames_ = due(polls) && (core_.now = core_.clock.now(), turn_.run());
    if (!found_frames_) core_.copy_end();
    return found_frames_;
  }
  // Returns whether a turn is due.
  bool due(unsigned polls) {
    if (polls_are_calls_ && core_.engine->pulls_running()) return true;  // the turn polls
    for (unsigned poll = 0; poll < polls; poll++) {
      if (turn_.frames_wait()) return true;
    }
    return core_.engine->pulls_running() || (++idle_polls_ & kClockEvery) == 0;
  }
  // Counts calls that find their result without a turn. Returns whether a turn is due all the same, now and
  // then.
  bool due_found() { return (++found_ & (core_.engine->held_any() ? kTurnEveryBurst : kTurnEvery)) == 0; }
  // Returns, after a poll and without the lock, whether the caller should give its processor away. It should
  // not if it found its result.
  bool yield_due(bool found) { return fairness_.yield_due(found || found_frames_); }

 private:
  // These are bit masks. Reading the clock costs as much as ten polls of the ring.
  static constexpr unsigned kClockEvery = 15, kTurnEvery = 7, kTurnEveryBurst = 31;

  EndpointCore& core_;
  Burst& burst_;
  EngineTurn& turn_;
  ProgressDriver& progress_;
  SpinBudget& spin_budget_;
  bool polls_are_calls_ =
      false;  // polls are system calls: only one each time, as the caller has other things to do
  unsigned idle_polls_ = 0;
  unsigned found_ = 0;
  bool found_frames_ = false;  // the last poll found frames
  PollingFairness fairness_;
};

}  // namespace omx::runtime
