// SPDX-License-Identifier: BSD-3-Clause
// The progress thread of an endpoint: rendezvous, pulls, acknowledgements, retransmissions and answers to
// peers go on while the application computes.
//
// It *watches*: it polls now and then (every 0.2 ms, growing to 2 ms while the application calls, and to 4 ms
// while it polls without a break, see steady_calls.h) whether there were calls. When there were none or few,
// or none lately, it *leads*, like a waiting thread that waits for nothing: it sleeps on the endpoint's
// descriptors and moves what comes. It makes way when a thread of the application waits, or polls a few times
// in a row; so a polling application meets it now and then for some microseconds, and an idle one never.
// After it was dismissed it stays away first, and longer each time it had hardly come: a poller that gets
// little of the processor makes few calls, too. While a thread of the application sleeps in a wait for long,
// it *rests* until that one leaves.
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
#include "runtime/wait/locked_clock.h"
#include "runtime/wait/progress_thread.h"
#include "runtime/wait/steady_calls.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

// What the progress thread needs of the endpoint. With the lock held, and in no poll loop.
class ProgressHost {
 public:
  virtual ~ProgressHost() = default;
  // Leads until it is dismissed.
  virtual void lead_in_background() = 0;
  // The progress thread ends: it sends no more of what waits to share a frame.
  virtual void ending() = 0;
  // Sends the messages that wait to share a frame. False: none waited.
  virtual bool held_release() = 0;
  // How often the application called, and how many sleeps have ended.
  virtual std::uint64_t calls() const = 0;
  virtual void count_call() = 0;
  virtual std::uint64_t sleeps() const = 0;
  virtual void count_takeover() = 0;
};

class ProgressDriver {
 public:
  ProgressDriver(LockedClock& time, Waiters& waiters, const Settings& settings)
      : time_(time), waiters_(waiters), settings_(settings) {}

  // Once, before all else.
  void host_is(ProgressHost& host) { host_ = &host; }

  // Returns false when the system has no thread or descriptor left. `hub` may be nullptr.
  bool start(local::Hub* hub);
  // Indefinitely; the lock is not held. Any thread, more than once.
  void stop();
  bool runs() const { return runs_; }

  // No thread of the application will call soon. Returns false when there is no progress thread.
  bool invite();
  // The application polls.
  void polled() {
    if (waiters_.progress_thread_leads()) [[unlikely]]
      polled_beside();
  }
  // It leads no more. The caller does, or polls.
  void dismiss();

  // A message waits to share a frame: it is sent soon.
  void expedite();
  bool expedites() const { return expedited_.load(std::memory_order_relaxed); }

 private:
  void run();
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
  bool runs_ = false;  // and will poll
  std::atomic<bool> stops_{false};
  std::atomic<bool> invited_{false};    // leads at the next poll; written with the lock held
  std::atomic<bool> expedited_{false};  // it polls for held messages often
  unsigned expedited_polls_ = 0;        // that found none
  std::uint64_t calls_seen_ = 0, sleeps_seen_ = 0;
  SteadyCalls steady_;
  unsigned polls_beside_ = 0;  // of the application, while this thread leads
  TimeNs interval_ = 0;        // of its polls while it watches
  TimeNs away_ = 0;            // the first interval after it was dismissed
  bool dismissed_ = false;     // and has not stayed away since
  TimeNs leads_since_ = 0;
};

}  // namespace omx::runtime
