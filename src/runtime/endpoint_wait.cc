// SPDX-License-Identifier: BSD-3-Clause
// Waiting threads: one leads (drives the link, spins, sleeps in poll), the others follow (sleep on their
// parker).
//
// A follower is woken when what it wants is there, when the leader has left and it is first in line, by
// wakeup() and close, and by its own timeout. The leader's sleep ends for frames, for the engine's deadline,
// for its own timeout, and when another thread kicks it through the eventfd. All decisions are taken with the
// lock held, so no wake-up can fall between a look and the sleep that follows: a parker and an eventfd
// remember.
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "runtime/endpoint_impl.h"

namespace omx::runtime {

namespace {

// After the link's descriptor reported an error, so that a lasting one costs no processor time.
constexpr TimeNs kErrorPause = 100 * protocol::kMillisecond;
// A full ring of another process says nothing when it has room again.
constexpr TimeNs kBacklogPause = 50'000;

// Threads of this process that spin now. With more of them than processors they would only keep each other,
// and the threads that they wait for, from running.
std::atomic<int> g_spinners{0};

int processors() {
  static const int count = [] {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) < 0) return 1;
    return std::max(CPU_COUNT(&set), 1);
  }();
  return count;
}

class Spinner {
 public:
  ~Spinner() { stop(); }
  // Whether this thread may spin on.
  bool allowed() {
    if (!counted_) {
      g_spinners.fetch_add(1, std::memory_order_relaxed);
      counted_ = true;
    }
    if (g_spinners.load(std::memory_order_relaxed) <= processors()) return true;
    stop();
    return false;
  }
  void stop() {
    if (counted_) g_spinners.fetch_sub(1, std::memory_order_relaxed);
    counted_ = false;
  }

 private:
  bool counted_ = false;
};

class NoCancel {
 public:
  NoCancel() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancel() { ::pthread_setcancelstate(before_, nullptr); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  int before_ = 0;
};

}  // namespace

bool Endpoint::Impl::satisfied(const Want& want) {
  switch (want.kind) {
    case Want::Kind::request:
      return engine->done(want.request);
    case Want::Kind::any:
      return engine->find_done(want.match_info, want.match_mask) != nullptr;
    case Want::Kind::peek:
      return engine->peek_done() != nullptr;
    case Want::Kind::probe:
      return engine->probe(want.match_info, want.match_mask).has_value();
  }
  return false;
}

bool Endpoint::Impl::take(Want& want) {
  switch (want.kind) {
    case Want::Kind::request:
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
  }
  return false;
}

void Endpoint::Impl::kick() {
  if (kicked_) return;
  kicked_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written =
      ::write(event_.get(), &one, sizeof one);  // cannot fail: the counter is far from full
}

void Endpoint::Impl::wake_concerned(const Waiter* self) {
  // The leader fell asleep until a deadline that may not be the first any more.
  if (sleeping_ && !disabled_ && !in_handler() && engine->next_deadline() < sleep_until_) kick();
  const std::uint64_t events =
      engine->completion_count() + segment->counters().engine[protocol::Counter::unexpected];
  if (events == events_seen_) return;
  events_seen_ = events;
  for (Waiter* waiter = waiters_.front(); waiter; waiter = waiters_.next(*waiter)) {
    if (waiter == self || !satisfied(waiter->want)) continue;
    if (waiter != leader_) waiter->parker.unpark();
    if (waiter == leader_ && sleeping_) kick();
  }
}

void Endpoint::Impl::wake_all() {
  wake_generation_++;
  for (Waiter* waiter = waiters_.front(); waiter; waiter = waiters_.next(*waiter)) {
    if (waiter != leader_) waiter->parker.unpark();
  }
  if (sleeping_) kick();
}

// Sleeps as the leader, lock released. False when a signal ended it.
bool Endpoint::Impl::sleep(TimeNs deadline) {
  // While another thread runs the handler nothing can move either; its end wakes us.
  const bool stopped = disabled_ || in_handler();
  const bool polls_link = !stopped && now >= link_quiet_until_;
  TimeNs until = deadline;
  if (!stopped) until = std::min(until, engine->next_deadline());
  if (!stopped && !polls_link) until = std::min(until, link_quiet_until_);
  if (hub && !stopped && hub->backlog()) until = std::min(until, now + kBacklogPause);
  if (until <= now) return true;
  // While it is stopped nobody would read, so nobody need wake us.
  if (hub && !stopped && !hub->fall_asleep()) return true;

  counters_publish();  // nobody may do so for long
  sleeping_ = true;
  kicked_ = false;
  sleep_until_ = until;
  pollfd waits[4] = {{event_.get(), POLLIN, 0},
                     {stopped || !hub ? -1 : hub->descriptor(), POLLIN, 0},
                     {link->descriptor(), POLLIN, 0},
                     {link->bulk_descriptor(), POLLIN, 0}};
  const timespec limit = timespec_of(until - now);
  lock.unlock();
  const int result =
      ::ppoll(waits, polls_link ? 4 : 2, until == protocol::kNever ? nullptr : &limit, nullptr);
  const bool interrupted = result < 0 && errno == EINTR;
  lock.lock();
  now = clock.read();
  sleeping_ = false;
  if (hub && !stopped) {
    hub->wake_up();
    if (waits[1].revents) next_tick_ = 0;
  }
  segment->counters().wakeups++;

  if (result > 0 && (waits[0].revents & POLLIN)) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t size = ::read(event_.get(), &count, sizeof count);
  }
  if (result > 0 && ((waits[2].revents | waits[3].revents) & (POLLERR | POLLHUP | POLLNVAL))) {
    // The interface went down or away. Its state is read, and its descriptor left alone for a while.
    check_link();
    link_quiet_until_ = now + kErrorPause;
  }
  return !interrupted;
}

WaitOutcome Endpoint::Impl::lead(Waiter& self, TimeNs deadline, std::uint64_t generation) {
  const TimeNs spin = TimeNs{settings_.spin_us} * 1000;
  TimeNs spin_until = now + spin;
  Spinner spinner;
  for (;;) {
    if (turn()) spin_until = now + spin;
    if (take(self.want)) return WaitOutcome::done;
    if (dismissed(generation)) return WaitOutcome::woken;
    wake_others(&self);
    if (now >= deadline) return WaitOutcome::timed_out;

    const bool may_spin = spinner.allowed();
    if (settings_.spin_forever || (may_spin && !disabled_ && !in_handler() && now < spin_until)) {
      lock.unlock();
      cpu_relax();
      if (!may_spin) ::sched_yield();
      lock.give_way();
      lock.lock();
      if (poll_due()) now = clock.now();
      continue;
    }
    spinner.stop();
    if (!sleep(deadline) && settings_.wait_intr) return WaitOutcome::timed_out;
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
  if (take(want)) return WaitOutcome::done;
  // In the handler nothing can move, and a wait would never end.
  if (closing_ || in_own_handler()) return WaitOutcome::woken;

  Waiter self(want);
  now = clock.read();
  const TimeNs deadline = deadline_after_ms(now, timeout_ms);
  const std::uint64_t generation = wake_generation_;
  waiters_.push_back(self);
  std::optional<WaitOutcome> outcome;
  while (!outcome) {
    if (leader_) {
      outcome = follow(self, deadline, generation);
    } else {
      leader_ = &self;
      outcome = lead(self, deadline, generation);
      leader_ = nullptr;
    }
  }
  self.hook.unlink();
  wake_others();
  if (!leader_ && !waiters_.empty()) waiters_.front()->parker.unpark();
  if (closer_ && waiters_.empty()) closer_->unpark();
  return *outcome;
}

}  // namespace omx::runtime
