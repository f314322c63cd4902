// SPDX-License-Identifier: BSD-3-Clause
// Waiting threads of an endpoint: how a wait begins and ends, and how a thread follows. leader_loop.h says
// how it leads.
#pragma once

#include <cassert>
#include <mutex>
#include <optional>

#include "base/no_cancel.h"
#include "runtime/wait/leader_loop.h"
#include "runtime/wait/progress_driver.h"

namespace omx::runtime {

// The endpoint as a wait needs it, beside EngineTurns. All functions are called with the lock held.
template <class T>
concept WaitTurns = EngineTurns<T> && requires(T& turns, const Request* request) {
  { turns.holds(request) } -> std::same_as<bool>;    // the engine knows the request
  { turns.in_own_handler() } -> std::same_as<bool>;  // this thread runs the unexpected handler
  turns.burst_end();
  turns.count_wakeup();
};

template <WaitTurns Turns>
class Waiting {
 public:
  Waiting(const typename LeaderLoop<Turns>::Parts& parts, ProgressDriver& progress)
      : parts_(parts), progress_(progress) {}

  WaitOutcome wait(WaitPredicate& predicate, std::uint64_t timeout_ms) {
    // A thread that is cancelled in here would never release the lock and its place in the list.
    const NoCancel no_cancel;
    const std::lock_guard guard(parts_.time.lock);
    if (predicate.kind == WaitPredicate::Kind::request && !parts_.turns.holds(predicate.request))
      return WaitOutcome::no_request;
    if (parts_.turns.take(predicate)) return WaitOutcome::done;
    parts_.turns.burst_end();
    // While the handler runs, no frame is processed, and a wait would never end.
    if (parts_.waiters.closing() || parts_.turns.in_own_handler()) return WaitOutcome::woken;

    Waiter self(predicate);
    parts_.time.now = parts_.time.clock.read();
    const TimeNs deadline = deadline_after_ms(parts_.time.now, timeout_ms);
    const std::uint64_t generation = parts_.waiters.generation();
    parts_.waiters.join(self);
    std::optional<WaitOutcome> outcome;
    try {
      while (!outcome)
        outcome = parts_.waiters.application_leads() ? follow(self, deadline, generation)
                                                     : lead_first(self, deadline, generation);
    } catch (...) {  // no memory
      if (parts_.waiters.leads(self)) parts_.waiters.lead_end();
      leave(self);
      throw;
    }
    leave(self);
    return *outcome;
  }

  // Leads until the progress thread is dismissed.
  void lead_in_background() {
    LeaderLoop<Turns>(parts_, parts_.waiters.progress_thread(), protocol::kNever, parts_.waiters.generation())
        .run();
  }

 private:
  WaitOutcome lead_first(Waiter& self, TimeNs deadline, std::uint64_t generation) {
    if (parts_.waiters.led()) progress_.dismiss();
    parts_.waiters.lead(self);
    const WaitOutcome outcome = LeaderLoop<Turns>(parts_, self, deadline, generation).run();
    parts_.waiters.lead_end();
    return outcome;
  }

  // Sleeps until something concerns this thread. Returns nullopt if nothing does; the caller then checks
  // again who leads.
  std::optional<WaitOutcome> follow(Waiter& self, TimeNs deadline, std::uint64_t generation) {
    assert(!parts_.waiters.leads(self));
    parts_.time.lock.unlock();
    const FutexWait end = self.parker.park(deadline);
    parts_.time.lock.lock();
    parts_.time.now = parts_.time.clock.read();
    parts_.turns.count_wakeup();
    if (parts_.turns.take(self.predicate)) return WaitOutcome::done;
    if (parts_.waiters.dismissed(generation)) return WaitOutcome::woken;
    if (end == FutexWait::timed_out) return WaitOutcome::timed_out;
    if (end == FutexWait::interrupted && parts_.settings.waiting.interruptible) return WaitOutcome::timed_out;
    return std::nullopt;
  }

  void leave(Waiter& self) {
    parts_.waiters.unlink(self);
    parts_.turns.wake_others(nullptr);
    parts_.waiters.left();
  }

  const typename LeaderLoop<Turns>::Parts parts_;
  ProgressDriver& progress_;
};

}  // namespace omx::runtime
