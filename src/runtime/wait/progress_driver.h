// SPDX-License-Identifier: BSD-3-Clause
// The progress thread of an endpoint: rendezvous, pulls, acknowledgements, retransmissions and answers to
// peers go on while the application computes.
//
// While it *watches*, it polls now and then whether the application has called. The interval is 0.2 ms at
// first. It grows to 2 ms while the application calls, and to 4 ms while it polls without a break
// (steady_calls.h). If there were few calls, or none recently, the thread *leads*: it sleeps on the
// endpoint's descriptors and moves what comes. It makes way when a thread of the application waits, or polls
// a few times in a row. So a polling application meets it now and then for some microseconds, and an idle
// one never.
//
// After it was dismissed it stays away, and longer each time that it was dismissed soon. Where more threads
// want to run than there are processors, a poller gets little of them and makes few calls, too. There a
// single turn in 4 to 16 ms shows that the application does not compute (crowded_turns.h), and a single poll
// dismisses the thread.
// While a thread of the application sleeps in a long wait, it *rests* until that thread leaves.
//
//               no calls, or invited
//   watching ------------------------> leading
//    ^   ^  |                             |
//    |   |  | a long sleep of a waiter    | a thread waits, or polls 16 times
//    |   |  v                             v
//    |   resting                      dismissed
//    +------------- away_ -----------------+
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "config/settings.h"
#include "local/hub.h"
#include "runtime/wait/crowded_turns.h"
#include "runtime/wait/locked_clock.h"
#include "runtime/wait/progress_thread.h"
#include "runtime/wait/steady_calls.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

// The endpoint as the progress thread needs it. Called with the lock held, and not in a poll loop.
class ProgressHost {
 public:
  virtual ~ProgressHost() = default;
  // Leads until it is dismissed.
  virtual void lead_in_background() = 0;
  // Says that the progress thread ends: it sends no more of the messages that wait for coalescing.
  virtual void ending() = 0;
  // Sends the messages that wait for coalescing. Returns false if there were none.
  virtual bool held_release() = 0;
  // Return how often the application called, and how many sleeps have ended.
  virtual std::uint64_t calls() const = 0;
  // Return how many turns of the engine were taken, and the time of the last one.
  virtual std::uint64_t turns() const = 0;
  virtual TimeNs last_turn() const = 0;
  virtual void count_call() = 0;
  virtual std::uint64_t sleeps() const = 0;
  virtual void count_takeover() = 0;
};

class ProgressDriver {
 public:
  ProgressDriver(LockedClock& time, Waiters& waiters, const Settings& settings)
      : time_(time), waiters_(waiters), settings_(settings) {}

  // Sets the endpoint. Call it once, before all else.
  void host_is(ProgressHost& host) { host_ = &host; }

  // Starts the thread. Returns false when the system has no thread or descriptor left. `hub` may be nullptr.
  bool start(local::Hub* hub);
  // Stops the thread, which never starts again. The caller does not hold the lock. Any thread may call it,
  // more than once.
  void stop();
  // Does as stop() when the process exits, but waits no longer than `patience` for lock and thread. Does
  // nothing if this thread holds the lock.
  void stop_at_exit(TimeNs patience);
  bool runs() const { return runs_; }

  // Says that no thread of the application will call soon. Returns false when there is no progress thread.
  bool invite();
  // Says that the application polls.
  void polled() {
    if (waiters_.progress_thread_leads()) [[unlikely]]
      polled_beside();
  }
  // Ends the lead of the progress thread. The caller leads instead, or polls.
  void dismiss();

  // Says that a message waits for coalescing, so that the thread sends it soon.
  void expedite();
  bool expedites() const { return expedited_.load(std::memory_order_relaxed); }

 private:
  void tell_to_end();
  void run();
  bool host_busy(TimeNs now);
  bool watch(TimeNs last_call);
  void stay_away(TimeNs until);
  void lead();
  void polled_beside();
  void held_release();
  bool stops() const { return stops_.load(std::memory_order_relaxed); }
  bool invited() const { return invited_.load(std::memory_order_relaxed); }

  LockedClock& time_;
  Waiters& waiters_;
  const Settings& settings_;
  ProgressHost* host_ = nullptr;
  local::Hub* hub_ = nullptr;
  ProgressThread thread_;
  bool runs_ = false;  // the thread runs, and will poll
  std::atomic<bool> stops_{false};
  std::atomic<bool> invited_{false};    // leads at the next poll; written with the lock held
  std::atomic<bool> expedited_{false};  // the thread polls often for messages to send
  unsigned expedited_polls_ = 0;        // polls that found none
  std::uint64_t calls_seen_ = 0, sleeps_seen_ = 0;
  unsigned crowded_looks_ = 0;  // in a row that found the host busy
  TimeNs next_host_look_ = 0;   // 0: none yet
  SteadyCalls steady_;
  CrowdedTurns crowded_turns_;
  unsigned polls_beside_ = 0;  // polls by the application while this thread leads
  TimeNs interval_ = 0;        // between its polls while it watches
  TimeNs away_ = 0;            // the first interval after a dismissal
  bool dismissed_ = false;     // since the dismissal it has not stayed away
  TimeNs leads_since_ = 0;
};

}  // namespace omx::runtime
