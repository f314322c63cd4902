// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/progress_driver.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cassert>
#include <ctime>
#include <mutex>
#include <new>

#include "runtime/wait/oversubscription.h"

namespace omx::runtime {

namespace {

// How long messages that wait for coalescing wait at most, about.
constexpr TimeNs kHoldTimeoutNs = 40'000, kHoldTimeoutCrowdedNs = 500'000;
constexpr unsigned kExpeditedPolls = 20;
constexpr unsigned long kTimerSlackNs = 5'000;  // instead of 50 us
constexpr TimeNs kIntervalLeast = 200'000, kIntervalMost = SteadyCalls::kAwayLeast;
// A thread that is dismissed sooner than this came too early. The second value is how long it stays away
// then at most.
constexpr TimeNs kShortLeadNs = protocol::kMillisecond, kAwayMost = kIntervalMost;
// Fewer calls than this between two computations are no polling. They are no reason to make way or to stay
// away.
constexpr unsigned kPollsToDismiss = 16;
// Where processes share a processor, one that polls has it seldom. A progress thread that took over would
// take it from the processes that this one waits for. So a turn by the application shows that it does not
// compute, and a single poll dismisses the thread.
constexpr unsigned kPollsToDismissCrowded = 1;
// How often it asks whether the host is still busy, which it remembers for longer.
constexpr TimeNs kHostLookNs = 20 * protocol::kMillisecond;

bool crowded(TimeNs now) {
  return OversubscriptionDetector::crowded_lately(now);
}

// Asks for a condition that reports no change. Returns whether it was true in time.
template <class Condition>
bool becomes_true_until(TimeNs end, Condition condition) {
  constexpr timespec kLook{0, 100'000};
  while (!condition()) {
    if (clock_now() >= end) return false;
    ::nanosleep(&kLook, nullptr);
  }
  return true;
}

}  // namespace

bool ProgressDriver::start(local::Hub* hub) {
  assert(host_);
  assert(!runs_);
  hub_ = hub;
  interval_ = away_ = kIntervalLeast;
  runs_ =
      waiters_.progress_slot().open() && thread_.start([this] { run(); }, settings_.waiting.progress_cpus);
  return runs_;
}

void ProgressDriver::stop() {
  stops_ = true;
  time_.lock.lock();
  tell_to_end();
  time_.lock.unlock();
  thread_.join();
}

void ProgressDriver::stop_at_exit(TimeNs patience) {
  // A signal handler may have called exit() in the midst of a turn, or of taking the lock.
  if (time_.lock.owned()) return;
  const TimeNs end = clock_now() + patience;
  if (!becomes_true_until(end, [this] { return time_.lock.try_lock(); })) return;
  stops_ = true;
  tell_to_end();
  time_.lock.unlock();
  if (becomes_true_until(end, [this] { return thread_.returned(); })) thread_.join();
}

// Called with the lock held.
void ProgressDriver::tell_to_end() {
  runs_ = false;
  host_->ending();
  if (waiters_.progress_thread_leads()) dismiss();
  waiters_.progress_thread().parker.unpark();
}

void ProgressDriver::run() {
  ::prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  const std::lock_guard guard(time_.lock);
  steady_.restart(time_.clock.read(), host_->calls());
  crowded_turns_.restart(time_.clock.read(), host_->turns());
  // When the endpoint closes, no thread leads any more, and a turn without an end would keep the lock.
  while (!waiters_.closing() && !stops()) {
    const TimeNs last_call = time_.now;
    time_.now = time_.clock.read();
    try {
      if (watch(last_call)) lead();
    } catch (const std::bad_alloc&) {
      // The next thread that leads tries again what needed memory.
      if (waiters_.progress_thread_leads()) waiters_.lead_end();
      host_->count_call();
    }
  }
}

// Stays away without the lock. Meanwhile the thread may be expedited to send messages that wait for
// coalescing.
void ProgressDriver::stay_away(TimeNs until) {
  Parker& parker = waiters_.progress_thread().parker;
  while (!stops() && clock_now() < until) {
    if (!expedites()) {
      parker.park(until);
      if (!expedites()) return;
    }
    const TimeNs now = clock_now();
    parker.park(std::min(now + (crowded(now) ? kHoldTimeoutCrowdedNs : kHoldTimeoutNs), until));
    if (!time_.lock.try_lock()) {
      if (invited()) return;
      continue;
    }
    held_release();
    const bool leave = invited();
    time_.lock.unlock();
    if (leave) return;
  }
}

// Returns whether more threads want to run than there are processors. A look that finds the host calm may
// have come at a bad moment, so another one follows soon.
bool ProgressDriver::host_busy(TimeNs now) {
  if (now >= next_host_look_)
    next_host_look_ = OversubscriptionDetector::look(now, crowded_looks_) ? now + kHostLookNs : now;
  return crowded(now);
}

// Stays away for an interval. Returns true when no other thread takes care of the endpoint.
bool ProgressDriver::watch(TimeNs last_call) {
  assert(time_.lock.owned());
  const bool always = settings_.waiting.progress == ProgressMode::always;
  const std::uint64_t calls = host_->calls();
  const bool busy_host = host_busy(time_.now);
  const bool few =
      busy_host ? crowded_turns_.none(host_->turns())
                : calls - calls_seen_ < kPollsToDismiss || steady_.silent(interval_, time_.now, last_call);
  const bool idle = !dismissed_ && (few || always);
  if (!waiters_.led() && (idle || invited())) {
    invited_.store(false, std::memory_order_relaxed);
    interval_ = away_;
    return true;
  }
  dismissed_ = false;
  calls_seen_ = calls;
  const TimeNs away = crowded_turns_.look(time_.now, host_->turns(), host_->last_turn());
  const TimeNs steady = steady_.away_most(time_.now, calls);
  const TimeNs most = busy_host ? crowded_turns_.most() : steady;
  interval_ = busy_host ? away : std::min(interval_, most);
  // A sleep is long if it already lasted at the last poll.
  const std::uint64_t sleeps = host_->sleeps();
  const bool rests =
      waiters_.asleep() && (always || ((busy_host || interval_ >= kIntervalMost) && sleeps == sleeps_seen_));
  sleeps_seen_ = sleeps;
  waiters_.progress_thread_rests(rests || always);
  if (rests) {
    held_release();
    expedited_.store(false, std::memory_order_relaxed);
  }
  time_.lock.unlock();
  // A thread that holds the lock takes care of the endpoint, and must not wait for this one. But the thread
  // that invited this one may still hold the lock, and will leave.
  bool forever = rests;
  do {
    if (forever)
      waiters_.progress_thread().parker.park(protocol::kNever);
    else
      stay_away(clock_now() + interval_);
    forever = false;
    interval_ = std::min(2 * interval_, most);
  } while (!stops() && !time_.lock.try_lock() && !invited());
  if (!time_.lock.owned()) time_.lock.lock();
  if (rests) crowded_turns_.rested(time_.clock.read());
  waiters_.progress_thread_rests(false);
  return false;
}

void ProgressDriver::lead() {
  waiters_.lead(waiters_.progress_thread());
  polls_beside_ = 0;
  host_->count_takeover();
  leads_since_ = time_.now;
  host_->lead_in_background();
  calls_seen_ = host_->calls();
  steady_.restart(time_.now, calls_seen_);
  crowded_turns_.restart(time_.now, host_->turns());
  if (!waiters_.progress_thread_leads()) {
    dismissed_ = true;
    interval_ = away_;
    return;
  }
  waiters_.lead_end();
  waiters_.first_unpark();
}

bool ProgressDriver::invite() {
  if (!runs_) return false;
  if (waiters_.led()) return true;
  invited_.store(true, std::memory_order_relaxed);
  waiters_.progress_thread().parker.unpark();
  return true;
}

// Counts a poll by the application while the progress thread leads.
void ProgressDriver::polled_beside() {
  const bool always = settings_.waiting.progress == ProgressMode::always;
  if (always || ++polls_beside_ < (crowded(time_.now) ? kPollsToDismissCrowded : kPollsToDismiss)) return;
  const bool hardly_come = time_.clock.now() < leads_since_ + kShortLeadNs;
  const TimeNs away = hardly_come ? std::min(2 * away_, kAwayMost) : kIntervalLeast;
  dismiss();
  away_ = away;
}

void ProgressDriver::dismiss() {
  assert(waiters_.progress_thread_leads());
  ParkSlot& slot = waiters_.progress_slot();
  if (slot.taken()) {
    slot.wake();
    slot.end();
    if (hub_) hub_->wake_up();
  }
  waiters_.lead_end();
  away_ = kIntervalLeast;
}

void ProgressDriver::expedite() {
  expedited_polls_ = 0;
  expedited_.store(true, std::memory_order_relaxed);
  waiters_.progress_thread().parker.unpark();
}

// Sends messages that wait for coalescing. Called by the progress thread with the lock held.
void ProgressDriver::held_release() {
  if (host_->held_release())
    expedited_polls_ = 0;
  else if (++expedited_polls_ >= kExpeditedPolls)
    expedited_.store(false, std::memory_order_relaxed);
}

}  // namespace omx::runtime
