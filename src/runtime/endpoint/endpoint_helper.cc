// SPDX-License-Identifier: BSD-3-Clause
// The progress thread of an endpoint: rendezvous, pulls, acknowledgements, retransmissions and answers to
// peers go on while the application computes.
//
// It *watches*: looks now and then (0.2 ms, growing to 2 ms while the application calls, and to 4 ms while
// it polls without a break, see steady_calls.h) whether there were calls. When there were none or few, or
// none lately, it *leads*, like a waiting thread that waits for nothing: it sleeps on the endpoint's
// descriptors and moves what comes. It makes way when a thread of the application waits, or polls a few times
// in a row; so a polling application meets it now and then for some microseconds, and an idle one never. Sent
// away, it looks away first, and longer each time it had hardly come: a poller that gets little of the
// processor makes few calls, too. While a thread of the application sleeps in a wait for long, it *rests*
// until that one leaves.
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <algorithm>
#include <new>

#include "base/log.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

// Messages that wait to share a frame wait about so long.
constexpr TimeNs kHaste = 40'000;
constexpr unsigned long kTimerSlack = 5'000;
constexpr TimeNs kWatchLeast = 200'000, kWatchMost = SteadyCalls::kAwayLeast;
// Sent away sooner than this, it should not have come; and how long it looks away then at most.
constexpr TimeNs kTenureShort = protocol::kMillisecond, kAwayMost = kWatchMost;
// Some calls between two computations are no polling: no reason to make way, nor to stay away.
constexpr unsigned kPollsToDismiss = 16;

}  // namespace

void Endpoint::Impl::helper_start() {
  if (settings_.progress == ProgressMode::off) return;
  helper_bed_.event = OwnFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  watch_ = away_ = kWatchLeast;
  helper_runs_ =
      helper_bed_.event.open() && thread_.start([this] { helper_main(); }, settings_.progress_cpus);
  if (helper_runs_) return;
  log(LogLevel::warn,
      "{} endpoint {}: no progress thread (limit of threads or open files): messages move during calls only",
      board_.interface.name, id_);
}

void Endpoint::Impl::helper_stop() {
  helper_stops_ = true;
  lock.lock();
  helper_runs_ = false;
  if (engine) burst_end();  // nobody else would send what waits
  if (leader_ == &helper_) helper_dismiss();
  helper_.parker.unpark();
  lock.unlock();
  thread_.join();
}

void Endpoint::Impl::helper_main() {
  ::prctl(PR_SET_TIMERSLACK, kTimerSlack);  // instead of 50 us
  const std::lock_guard guard(lock);
  steady_.restart(clock.read(), uses_);
  // Closing: nobody leads any more, and a turn without an end would keep the lock.
  while (!closing_ && !helper_stops_.load(std::memory_order_relaxed)) {
    const TimeNs last_call = now;
    now = clock.read();
    try {
      if (helper_watch(last_call)) helper_lead();
    } catch (const std::bad_alloc&) {
      // What needed memory is tried again, by whoever leads next.
      if (leader_ == &helper_) leader_ = nullptr;
      uses_++;
    }
  }
}

// Without the lock. Meanwhile it may be told that messages wait to share a frame.
void Endpoint::Impl::helper_look_away(TimeNs until) {
  while (!helper_stops_.load(std::memory_order_relaxed) && clock_now() < until) {
    if (!hastened_.load(std::memory_order_relaxed)) {
      helper_.parker.park(until);
      if (!hastened_.load(std::memory_order_relaxed)) return;
    }
    helper_.parker.park(std::min(clock_now() + kHaste, until));
    if (!lock.try_lock()) continue;
    helper_release();
    const bool invited = helper_invited_.load(std::memory_order_relaxed);
    lock.unlock();
    if (invited) return;
  }
}

// Looks away for a while. True when nobody else looks after the endpoint.
bool Endpoint::Impl::helper_watch(TimeNs last_call) {
  const bool always = settings_.progress == ProgressMode::always;
  const bool few = uses_ - uses_seen_ < kPollsToDismiss || steady_.silent(watch_, now, last_call);
  const bool idle = !sent_away_ && (few || always);
  if (!leader_ && (idle || helper_invited_.load(std::memory_order_relaxed))) {
    helper_invited_.store(false, std::memory_order_relaxed);
    watch_ = away_;
    return true;
  }
  sent_away_ = false;
  uses_seen_ = uses_;
  const TimeNs most = steady_.away_most(now, uses_);
  watch_ = std::min(watch_, most);
  // The same sleep as at the last look: a long one.
  const std::uint64_t sleeps = segment->counters().wakeups;
  const bool rests = asleep() && (always || (watch_ >= kWatchMost && sleeps == sleep_seen_));
  sleep_seen_ = sleeps;
  helper_rests_ = rests || always;
  if (rests) {
    helper_release();
    hastened_.store(false, std::memory_order_relaxed);
  }
  lock.unlock();
  // An endpoint that is locked is looked after: nobody who is busy there shall wait for us. But who invited
  // us may still hold the lock, and goes.
  bool forever = rests;
  do {
    if (forever)
      helper_.parker.park(protocol::kNever);
    else
      helper_look_away(clock_now() + watch_);
    forever = false;
    watch_ = std::min(2 * watch_, most);
  } while (!helper_stops_.load(std::memory_order_relaxed) && !lock.try_lock() &&
           !helper_invited_.load(std::memory_order_relaxed));
  if (!lock.owned()) lock.lock();
  helper_rests_ = false;
  return false;
}

void Endpoint::Impl::helper_lead() {
  leader_ = &helper_;
  polls_beside_helper_ = 0;
  segment->counters().takeovers++;
  helper_since_ = now;
  lead(helper_, protocol::kNever, wake_generation_);
  uses_seen_ = uses_;
  steady_.restart(now, uses_);
  if (leader_ != &helper_) {
    sent_away_ = true;
    watch_ = away_;
    return;
  }
  leader_ = nullptr;
  if (!waiters_.empty()) waiters_.front()->parker.unpark();
}

bool Endpoint::Impl::helper_invite() {
  if (!helper_runs_) return false;
  if (leader_) return true;
  helper_invited_.store(true, std::memory_order_relaxed);
  helper_.parker.unpark();
  return true;
}

// The application polls while the progress thread leads.
void Endpoint::Impl::helper_beside() {
  if (settings_.progress == ProgressMode::always || ++polls_beside_helper_ < kPollsToDismiss) return;
  const bool hardly_come = clock.now() < helper_since_ + kTenureShort;
  const TimeNs away = hardly_come ? std::min(2 * away_, kAwayMost) : kWatchLeast;
  helper_dismiss();
  away_ = away;
}

void Endpoint::Impl::helper_dismiss() {
  if (helper_bed_.taken) {
    kick();
    helper_bed_.taken = false;
    if (hub) hub->wake_up();
  }
  leader_ = nullptr;
  away_ = kWatchLeast;
}

}  // namespace omx::runtime
