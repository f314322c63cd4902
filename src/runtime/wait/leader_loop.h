// SPDX-License-Identifier: BSD-3-Clause
// The loop of a thread that leads: it takes one turn of the engine after the other until it has what it
// waits for. Between two turns it spins, gives its processor away, or sleeps.
//
//                 budget spent, or oversubscribed            budget spent, or another computes
//   idle polling --------------------------------> back-off ----------------------------------> sleeping
//      |   ^                                          |                                            |
//      |   +---- frames came (a stream) --------------+                                            |
//      |   +------------------------------- woken: frame, event, timer, deadline ------------------+
//      +--> found, dismissed or timed out
#pragma once

#include <sched.h>

#include <algorithm>
#include <cassert>
#include <concepts>
#include <optional>

#include "base/clock.h"
#include "config/settings.h"
#include "runtime/wait/locked_clock.h"
#include "runtime/wait/oversubscription.h"
#include "runtime/wait/spin_budget.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

// The interface of a waiting thread to the engine's turn. Its type is known when the loop is compiled, so no
// call in it is virtual. All functions are called with the lock held.
template <class T>
concept EngineTurns = requires(T& turns, WaitPredicate& predicate, const Waiter* self, TimeNs time,
                               bool flag) {
  { turns.turn() } -> std::same_as<bool>;      // returns whether frames came
  { turns.poll_due() } -> std::same_as<bool>;  // whether a turn needs the time
  { turns.take(predicate) } -> std::same_as<bool>;
  { turns.copy_end() } -> std::same_as<bool>;  // makes the copy that a send owes; false: none
  { turns.moves() } -> std::same_as<bool>;     // neither disabled nor in the unexpected handler
  { turns.pulls_running() } -> std::same_as<bool>;
  { turns.sleep(time) } -> std::same_as<bool>;  // false: a signal ended it
  turns.set_sleeping(flag);                     // whether waits sleep between frames now
  turns.sleep_learn(flag, flag);                // whether frames came after a sleep, and ended the wait
  turns.wake_others(self);
};

template <EngineTurns Turns>
class LeaderLoop {
 public:
  struct Parts {
    LockedClock& time;
    Waiters& waiters;
    SpinBudget& budget;
    const Settings& settings;
    Turns& turns;
  };

  // Runs the loop of `self`, which must lead.
  LeaderLoop(const Parts& parts, Waiter& self, TimeNs deadline, std::uint64_t generation)
      : parts_(parts),
        self_(self),
        deadline_(deadline),
        generation_(generation),
        background_(&self == &parts.waiters.progress_thread()),
        began_(parts.time.now),
        // The progress thread spins only while frames come, since no thread waits for its result.
        spin_(background_ ? parts.budget.present() : parts.budget.next()),
        spin_until_(background_ ? began_ : began_ + spin_),
        oversubscribed_(spin_ == 0) {}

  WaitOutcome run() {
    assert(leads());
    for (;;) {
      const bool frames = parts_.turns.turn();
      if (!leads()) return WaitOutcome::woken;  // dismissed, while the handler ran
      // More frames of a large message follow soon.
      if (frames)
        spin_until_ = now() + (parts_.turns.pulls_running() ? std::max(spin_, stream_spin()) : spin_);
      if (take(frames)) {
        learn();
        return WaitOutcome::done;
      }
      if (parts_.waiters.dismissed(generation_)) return WaitOutcome::woken;
      parts_.turns.wake_others(&self_);
      if (now() >= deadline_) return WaitOutcome::timed_out;
      if (const auto outcome = pause()) return *outcome;
    }
  }

 private:
  static constexpr TimeNs kStreamSpin = 20'000;

  TimeNs now() const { return parts_.time.now; }
  bool leads() const { return parts_.waiters.leads(self_); }
  TimeNs stream_spin() const { return std::min(kStreamSpin, parts_.budget.most()); }

  bool take(bool frames) {
    bool taken = parts_.turns.take(self_.predicate);
    if (!taken && yielded_ && parts_.turns.copy_end()) taken = parts_.turns.take(self_.predicate);
    if (slept_) parts_.turns.sleep_learn(frames, taken);
    slept_ = false;
    return taken;
  }

  // Learns from a wait that succeeded what the next one may do.
  void learn() {
    if (ever_slept_) return;
    if (yields_since_ != 0)
      parts_.budget.yields_paid(spin_, now() - began_, now() - yields_since_);
    else if (spun_)
      parts_.budget.spin_paid(now() - began_);
    parts_.turns.set_sleeping(false);
  }

  // Passes the time between two turns. Returns nullopt if the next turn follows.
  std::optional<WaitOutcome> pause() {
    const bool moves = parts_.turns.moves();
    // A thread that gives its processor away may find the acknowledgement at its next poll.
    const bool gives_way = oversubscribed_ && !ever_slept_ && !parts_.settings.waiting.spin_forever;
    if (!gives_way && parts_.turns.copy_end()) return std::nullopt;
    if (parts_.settings.waiting.spin_forever && !background_) {
      parts_.time.lock.unlock();
      ::sched_yield();
      return poll();
    }
    if (moves && now() < spin_until_ && (yields_since_ == 0 || ever_slept_) &&
        !(oversubscribed_ = !detector_.allowed(now()))) {
      spun_ = true;
      parts_.time.lock.unlock();
      cpu_relax();
      return poll();
    }
    return moves && may_yield() ? yield() : sleep(moves);
  }

  // Takes the lock, which is free, for the next turn.
  std::optional<WaitOutcome> poll() {
    parts_.time.lock.give_way();
    parts_.time.lock.lock();
    if (!leads()) return WaitOutcome::woken;
    if (parts_.turns.poll_due()) parts_.time.now = parts_.time.clock.now();
    return std::nullopt;
  }

  // Returns whether to give the processor away and poll again, rather than sleep.
  bool may_yield() {
    if (background_ || ever_slept_ || !oversubscribed_) return false;
    if (yields_since_ == 0) {
      yields_since_ = now();
      yields_until_ = now() + parts_.budget.next_yields();
    }
    return now() < yields_until_;
  }

  std::optional<WaitOutcome> yield() {
    detector_.stop();
    yielded_ = true;
    parts_.budget.yields_are(true);
    parts_.time.lock.unlock();
    ::sched_yield();
    parts_.time.lock.lock();
    if (!leads()) return WaitOutcome::woken;
    const TimeNs before = now();
    parts_.time.now = parts_.time.clock.read();
    if (Yielding::computes(now() - before)) yields_until_ = yields_since_ + 1;
    return std::nullopt;
  }

  std::optional<WaitOutcome> sleep(bool moves) {
    detector_.stop();
    if (parts_.turns.copy_end()) return std::nullopt;
    if (!ever_slept_ && !background_) parts_.budget.spin_failed(spin_);
    if (!ever_slept_ && yields_until_ > yields_since_) parts_.budget.yields_failed();
    parts_.budget.yields_are(false);
    slept_ = ever_slept_ = true;
    spin_ = std::min(spin_, parts_.budget.present());
    if (moves) parts_.turns.set_sleeping(true);
    const TimeNs before = now();
    const bool whole = parts_.turns.sleep(deadline_);
    if (!leads()) return WaitOutcome::woken;
    if (!background_) parts_.budget.waited(now() - before);
    if (!whole && parts_.settings.waiting.interruptible) return WaitOutcome::timed_out;
    return std::nullopt;
  }

  const Parts& parts_;
  Waiter& self_;
  const TimeNs deadline_;
  const std::uint64_t generation_;
  const bool background_;  // the progress thread
  const TimeNs began_;
  TimeNs spin_, spin_until_;
  bool oversubscribed_;  // at the last check
  bool spun_ = false, yielded_ = false;
  bool slept_ = false;  // since the last turn
  bool ever_slept_ = false;
  TimeNs yields_since_ = 0, yields_until_ = 0;
  OversubscriptionDetector detector_;
};

}  // namespace omx::runtime
