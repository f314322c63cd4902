// SPDX-License-Identifier: BSD-3-Clause
// The threads that wait on an endpoint. One leads: it drives the link, spins, and sleeps in poll(). The
// others follow: they sleep on their parker. The progress thread may lead while no other thread does.
//
// A follower is woken by its own timeout, by wakeup() and by close. It is also woken when what it waits for
// is there, or when the leader has left and it is first in the list. The leader's sleep ends for frames, for
// the engine's deadline, and for its own timeout. Another thread ends it through the event of the leader's
// park slot. All decisions are taken with the lock held, so no wake-up can fall between a poll and the sleep
// that follows. A parker and an eventfd remember a wake-up.
//
//            join(), no leader            poll() finds it, timeout, wakeup()
//   outside -----------------> leading ------------------------------------> outside
//      |                          ^
//      | join(), another leads    | the leader leaves and this is the first in the list
//      +--------------------> following ------------------------------------> outside
#pragma once

#include <cstdint>

#include "base/futex.h"
#include "base/list.h"
#include "runtime/wait/park_slot.h"
#include "runtime/wait/wait_predicate.h"

namespace omx::runtime {

// A thread inside wait_*, on that thread's stack, or the progress thread.
struct Waiter {
  explicit Waiter(WaitPredicate& waits_for) : predicate(waits_for) {}
  WaitPredicate& predicate;
  Parker parker;
  ListHook hook;
};

class Waiters {
 public:
  // --- who leads ---
  bool led() const { return leader_ != nullptr; }
  bool leads(const Waiter& waiter) const { return leader_ == &waiter; }
  bool progress_thread_leads() const { return leader_ == &progress_thread_; }
  bool application_leads() const { return leader_ && !progress_thread_leads(); }
  void lead(Waiter& waiter);
  void lead_end() { leader_ = nullptr; }
  Waiter& progress_thread() { return progress_thread_; }
  const Waiter& progress_thread() const { return progress_thread_; }

  // --- the list: its first leads next when the leader leaves ---
  bool empty() const { return list_.empty(); }
  unsigned count();
  void join(Waiter& waiter) { list_.push_back(waiter); }
  void unlink(Waiter& waiter) { waiter.hook.unlink(); }
  void first_unpark();
  // Sets the parker to unpark when the last waiting thread has left; nullptr: none.
  void last_unparks(Parker* closer) { closer_ = closer; }
  void left();

  // --- waking ---
  // Returns whether any thread waits. Costs one comparison when none does.
  bool any() const { return leader_ || !list_.empty(); }
  // Returns the park slot of the leader.
  ParkSlot& slot() { return progress_thread_leads() ? progress_slot_ : application_slot_; }
  ParkSlot& application_slot() { return application_slot_; }
  ParkSlot& progress_slot() { return progress_slot_; }
  bool asleep() { return leader_ && slot().taken(); }
  void wake_sleeper() {
    if (asleep()) slot().wake();
  }
  // Makes all threads that wait now return `woken`.
  void wake_all();
  // Wakes the threads whose predicate holds, except `self`. `events`: completions and arrivals so far.
  void wake_satisfied(protocol::Endpoint& engine, std::uint64_t events, const Waiter* self);

  // --- being sent home ---
  std::uint64_t generation() const { return generation_; }
  bool dismissed(std::uint64_t generation) const { return closing_ || generation_ != generation; }
  void close() { closing_ = true; }
  bool closing() const { return closing_; }

  // Says whether the progress thread sleeps until a waiting thread leaves.
  void progress_thread_rests(bool rests) { progress_thread_rests_ = rests; }

 private:
  List<Waiter, &Waiter::hook> list_;
  Waiter* leader_ = nullptr;  // one of the waiting threads, or the progress thread
  WaitPredicate never_{.kind = WaitPredicate::Kind::never};
  Waiter progress_thread_{never_};
  bool progress_thread_rests_ = false;
  ParkSlot application_slot_, progress_slot_;
  std::uint64_t generation_ = 0;
  std::uint64_t events_seen_ = 0;  // completions and arrivals at the last wake_satisfied()
  bool closing_ = false;
  Parker* closer_ = nullptr;
};

}  // namespace omx::runtime
