// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/burst_sends.h"

namespace omx::runtime {

namespace {
// How long the first message of a frame waits while others follow.
constexpr TimeNs kHeldMostNs = 20'000;
}  // namespace

bool BurstSends::goes_on(std::uint64_t to) {
  if (!burst_.goes_on(to) || !progress_.runs() || progression_.stopped()) return false;
  // A program that sends this much computes no more.
  if (waiters_.progress_thread_leads() && core_.settings.waiting.progress == ProgressMode::automatic)
    progress_.dismiss();
  return !waiters_.asleep();  // a leader that sleeps would not poll
}

void BurstSends::held() {
  if (core_.now > core_.engine->held_since() + kHeldMostNs)
    core_.engine->release(core_.now);
  else if (core_.engine->held_messages() && !progress_.expedites())
    progress_.expedite();
}

void BurstSends::turn() {
  const unsigned sends = burst_.sends();
  turn_.run();
  burst_.sends_are(sends);
}

}  // namespace omx::runtime
