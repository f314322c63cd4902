// SPDX-License-Identifier: BSD-3-Clause
// Turns for callers that poll: a turn is taken, and the clock read, only when frames wait, and now and then
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
  // Several polls for one lock and unlock: a frame is seen sooner.
  static constexpr unsigned kPolls = 8;

  Polling(EndpointCore& core, Burst& burst, EngineTurn& turn, ProgressDriver& progress, SpinBudget& budget)
      : core_(core), burst_(burst), turn_(turn), progress_(progress), spin_budget_(budget) {}

  // Once, when the link is open.
  void open() { polls_are_calls_ = core_.link->datagram() != nullptr; }

  // Returns whether frames came.
  bool turn() { return turn(polls_are_calls_ ? 1 : kPolls); }
  // With 0 polls only timers make a turn due.
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
  // Whether a turn is due.
  bool due(unsigned polls) {
    if (polls_are_calls_ && core_.engine->pulls_running()) return true;  // the turn polls
    for (unsigned poll = 0; poll < polls; poll++) {
      if (turn_.frames_wait()) return true;
    }
    return core_.engine->pulls_running() || (++idle_polls_ & kClockEvery) == 0;
  }
  // For calls that find what they look for without a turn: returns whether one is due all the same, now and
  // then.
  bool due_found() { return (++found_ & (core_.engine->held() ? kTurnEveryBurst : kTurnEvery)) == 0; }
  // After a poll, without the lock: whether the caller should give its processor away. Not when it found what
  // it looks for.
  bool yield_due(bool found) { return fairness_.yield_due(found || found_frames_); }

 private:
  // Masks. To read the clock costs as much as ten polls of the ring.
  static constexpr unsigned kClockEvery = 15, kTurnEvery = 7, kTurnEveryBurst = 31;

  EndpointCore& core_;
  Burst& burst_;
  EngineTurn& turn_;
  ProgressDriver& progress_;
  SpinBudget& spin_budget_;
  bool polls_are_calls_ = false;  // system calls: one a poll, as its caller has other things to do
  unsigned idle_polls_ = 0;
  unsigned found_ = 0;
  bool found_frames_ = false;  // the last poll
  PollingFairness fairness_;
};

}  // namespace omx::runtime
