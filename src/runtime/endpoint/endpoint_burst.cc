// SPDX-License-Identifier: BSD-3-Clause
// Bursts of short messages. From the fifth send in a row on, messages wait for the next ones to share their
// frame, at most some tens of microseconds. Calls that wait, look in vain for what has not come, or end
// something (close, disconnect, stop progression) send them. If none is made, as the application computes,
// the progress thread sends them: it is told when a first message waits, and looks often until bursts have
// ended for a while. A lone message never waits, and where there is no progress thread none does.
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

constexpr unsigned kBurst = 4;
// Who takes longer from one message to the next gains nothing.
constexpr TimeNs kBurstPause = 20'000;
// The first of a frame waits no longer while others follow.
constexpr TimeNs kHeldMost = 20'000;
constexpr unsigned kHastyLooks = 20;

}  // namespace

bool Endpoint::Impl::burst_goes_on() {
  if (now > burst_last_ + kBurstPause) burst_ = 0;
  burst_last_ = now;
  if (++burst_ <= kBurst || !helper_runs_ || disabled_ || in_handler()) return false;
  // Who sends so much computes no more.
  if (leader_ == &helper_ && settings_.progress == ProgressMode::automatic) helper_dismiss();
  return !asleep();  // a leader that sleeps would not look
}

void Endpoint::Impl::burst_held() {
  if (now > engine->held_since() + kHeldMost)
    engine->release(now);
  else if (engine->held_messages() && !hastened_.load(std::memory_order_relaxed))
    helper_hasten();
}

void Endpoint::Impl::burst_turn() {
  const unsigned burst = burst_;
  turn();
  burst_ = burst;
}

void Endpoint::Impl::helper_hasten() {
  hasty_looks_ = 0;
  hastened_.store(true, std::memory_order_relaxed);
  helper_.parker.unpark();
}

// With the lock held, by the progress thread.
void Endpoint::Impl::helper_release() {
  if (!engine->held()) {
    if (++hasty_looks_ >= kHastyLooks) hastened_.store(false, std::memory_order_relaxed);
    return;
  }
  hasty_looks_ = 0;
  now = clock.read();
  engine->release(now);
  burst_ = 0;
}

}  // namespace omx::runtime
