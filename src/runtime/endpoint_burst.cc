// SPDX-License-Identifier: BSD-3-Clause
// Bursts of short messages. From the fifth send in a row on, with nothing else called in between and little
// time, messages wait for the next ones to share their frame. Whatever else the application calls sends them,
// but a look at a request that is done. If it calls nothing, as it computes, the progress thread does, within
// some tens of microseconds: it is told when a first message waits, and looks often until bursts have ended
// for a while. A lone message never waits, and where there is no progress thread none does.
#include "runtime/endpoint_impl.h"

namespace omx::runtime {

namespace {

constexpr unsigned kBurst = 4;
// Who takes longer from one message to the next gains nothing.
constexpr TimeNs kBurstPause = 20'000;
constexpr unsigned kHastyLooks = 20;

}  // namespace

bool Endpoint::Impl::burst_goes_on() {
  if (now > burst_last_ + kBurstPause) burst_ = 0;
  burst_last_ = now;
  // A leader that sleeps would not look.
  return ++burst_ > kBurst && thread_.running() && !asleep() && !disabled_ && !in_handler();
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
