// SPDX-License-Identifier: BSD-3-Clause
// Waiting threads: one leads (drives the link, spins, sleeps in poll), the others follow (sleep on their
// parker).
//
// A follower is woken when what it wants is there, when the leader has left and it is first in line, by
// wakeup() and close, and by its own timeout. The leader's sleep ends for frames, for the engine's deadline,
// for its own timeout, and when another thread kicks it through the eventfd. All decisions are taken with the
// lock held, so no wake-up can fall between a look and the sleep that follows: a parker and an eventfd
// remember.
#include <sched.h>

#include <algorithm>

#include "base/no_cancel.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {
constexpr TimeNs kStreamSpin = 20'000;
}

bool Endpoint::Impl::satisfied(const Want& want) {
  switch (want.kind) {
    case Want::Kind::request:
      return !engine->held(want.request) || engine->done(want.request);
    case Want::Kind::any:
      return engine->find_done(want.match_info, want.match_mask) != nullptr;
    case Want::Kind::peek:
      return engine->peek_done() != nullptr;
    case Want::Kind::probe:
      return engine->probe(want.match_info, want.match_mask).has_value();
    case Want::Kind::ready:
      return want.ready(want.context);
    case Want::Kind::nothing:
      return false;
  }
  return false;
}

bool Endpoint::Impl::take(Want& want) {
  switch (want.kind) {
    case Want::Kind::request:
      if (!engine->held(want.request)) {
        want.request = nullptr;
        return true;
      }
      if (!engine->done(want.request)) return false;
      *want.completion = engine->consume(want.request);
      return true;
    case Want::Kind::any: {
      Request* const found = engine->find_done(want.match_info, want.match_mask);
      if (found) *want.completion = engine->consume(found);
      return found != nullptr;
    }
    case Want::Kind::peek:
      want.request = engine->peek_done();
      return want.request != nullptr;
    case Want::Kind::probe: {
      const auto arrival = engine->probe(want.match_info, want.match_mask);
      if (arrival) *want.arrival = *arrival;
      return arrival.has_value();
    }
    case Want::Kind::ready:
      return want.ready(want.context);
    case Want::Kind::nothing:
      return false;
  }
  return false;
}

void Endpoint::Impl::wake_concerned(const Waiter* self) {
  // The leader fell asleep until a deadline that may not be the first any more.
  if (asleep() && !disabled_ && !in_handler() &&
      std::min(engine->next_deadline(), local_deadline()) < bed().until)
    kick();
  const std::uint64_t events =
      engine->completion_count() + segment->counters().engine[protocol::Counter::unexpected] + signals;
  if (events == events_seen_) return;
  events_seen_ = events;
  for (Waiter* waiter = waiters_.front(); waiter; waiter = waiters_.next(*waiter)) {
    if (waiter == self || !satisfied(waiter->want)) continue;
    if (waiter != leader_) waiter->parker.unpark();
    if (waiter == leader_ && asleep()) kick();
  }
}

void Endpoint::Impl::wake_all() {
  wake_generation_++;
  for (Waiter* waiter = waiters_.front(); waiter; waiter = waiters_.next(*waiter)) {
    if (waiter != leader_) waiter->parker.unpark();
  }
  if (asleep()) kick();
}

WaitOutcome Endpoint::Impl::lead(Waiter& self, TimeNs deadline, std::uint64_t generation) {
  const TimeNs began = now;
  const bool helps = &self == &helper_;
  // The progress thread keeps nobody waiting: it is busy only while frames come.
  TimeNs spin = helps ? spin_ : spin_next();
  TimeNs spin_until = helps ? now : now + spin;
  const TimeNs stream_spin = std::min(kStreamSpin, TimeNs{settings_.spin_us} * 1000);
  bool spun = false, slept = false, ever_slept = false;
  Spin turns;
  bool crowded = spin == 0;
  bool yielded = false;
  TimeNs yields_since = 0, yields_until = 0;
  // Whether to give the processor away, and look again, rather than sleep.
  const auto may_yield = [&] {
    if (helps || ever_slept || !crowded) return false;
    if (yields_since == 0) {
      yields_since = now;
      yields_until = now + yielding_.next();
    }
    return now < yields_until;
  };
  for (;;) {
    const bool frames = turn();
    if (leader_ != &self) return WaitOutcome::woken;  // dismissed, while the handler ran
    // More frames of a large message follow soon.
    if (frames) spin_until = now + (engine->pulls_running() ? std::max(spin, stream_spin) : spin);
    bool taken = take(self.want);
    if (!taken && yielded && copy_end()) taken = take(self.want);
    if (slept) moderation_learn(frames, taken);
    slept = false;
    if (taken) {
      if (ever_slept) return WaitOutcome::done;
      if (yields_since != 0)
        yields_paid(spin, now - began, now - yields_since);
      else if (spun)
        spin_paid(now - began);
      else
        set_drowsy(false);
      return WaitOutcome::done;
    }
    if (dismissed(generation)) return WaitOutcome::woken;
    wake_others(&self);
    if (now >= deadline) return WaitOutcome::timed_out;
    const bool moves = !disabled_ && !in_handler();

    // Who gives its processor away may find the acknowledgement when it looks again.
    const bool gives_way = crowded && !ever_slept && !settings_.spin_forever;
    if (!gives_way && copy_end()) continue;

    if (settings_.spin_forever && !helps) {
      lock.unlock();
      ::sched_yield();
    } else if (moves && now < spin_until && (yields_since == 0 || ever_slept) &&
               !(crowded = !turns.allowed(now))) {
      spun = true;
      lock.unlock();
      cpu_relax();
    } else if (moves && may_yield()) {
      turns.stop();
      yields_ = yielded = true;
      lock.unlock();
      ::sched_yield();
      lock.lock();
      if (leader_ != &self) return WaitOutcome::woken;
      const TimeNs before = now;
      now = clock.read();
      if (Yielding::computes(now - before)) yields_until = yields_since + 1;
      continue;
    } else {
      turns.stop();
      if (copy_end()) continue;
      if (!ever_slept && !helps) spin_failed(spin);
      if (!ever_slept && yields_until > yields_since) yielding_.failed();
      yields_ = false;
      slept = ever_slept = true;
      spin = std::min(spin, spin_);
      if (moves) set_drowsy(true);
      const TimeNs before = now;
      const bool whole = sleep(deadline);
      if (leader_ != &self) return WaitOutcome::woken;
      if (!helps) waited(now - before);
      if (!whole && settings_.wait_intr) return WaitOutcome::timed_out;
      continue;
    }
    lock.give_way();
    lock.lock();
    if (leader_ != &self) return WaitOutcome::woken;
    if (poll_due(kLooks)) now = clock.now();
  }
}

// Sleeps until something concerns this thread; nullopt: nothing did, look again who leads.
std::optional<WaitOutcome> Endpoint::Impl::follow(Waiter& self, TimeNs deadline, std::uint64_t generation) {
  lock.unlock();
  const FutexWait end = self.parker.park(deadline);
  lock.lock();
  now = clock.read();
  segment->counters().wakeups++;
  if (take(self.want)) return WaitOutcome::done;
  if (dismissed(generation)) return WaitOutcome::woken;
  if (end == FutexWait::timed_out) return WaitOutcome::timed_out;
  if (end == FutexWait::interrupted && settings_.wait_intr) return WaitOutcome::timed_out;
  return std::nullopt;
}

WaitOutcome Endpoint::Impl::wait(Want& want, std::uint64_t timeout_ms) {
  // A thread that is cancelled in here would take the lock and its place in the list with it.
  const NoCancel no_cancel;
  const std::lock_guard guard(lock);
  if (want.kind == Want::Kind::request && !engine->held(want.request)) return WaitOutcome::no_request;
  if (take(want)) return WaitOutcome::done;
  burst_end();
  // In the handler nothing can move, and a wait would never end.
  if (closing_ || in_own_handler()) return WaitOutcome::woken;

  Waiter self(want);
  now = clock.read();
  const TimeNs deadline = deadline_after_ms(now, timeout_ms);
  const std::uint64_t generation = wake_generation_;
  waiters_.push_back(self);
  std::optional<WaitOutcome> outcome;
  try {
    while (!outcome) {
      if (leader_ && leader_ != &helper_) {
        outcome = follow(self, deadline, generation);
      } else {
        if (leader_) helper_dismiss();
        leader_ = &self;
        outcome = lead(self, deadline, generation);
        leader_ = nullptr;
      }
    }
  } catch (...) {  // no memory
    if (leader_ == &self) leader_ = nullptr;
    leave(self);
    throw;
  }
  leave(self);
  return *outcome;
}

void Endpoint::Impl::leave(Waiter& self) {
  self.hook.unlink();
  wake_others();
  if (!leader_ && !waiters_.empty()) waiters_.front()->parker.unpark();
  if (closer_ && waiters_.empty()) closer_->unpark();
  if (helper_rests_ && !leader_) helper_.parker.unpark();
}

}  // namespace omx::runtime
