// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/waiters.h"

#include <cassert>

namespace omx::runtime {

void Waiters::lead(Waiter& waiter) {
  assert(!leader_);
  leader_ = &waiter;
}

unsigned Waiters::count() {
  unsigned threads = 0;
  for (Waiter* waiter = list_.front(); waiter; waiter = list_.next(*waiter)) threads++;
  return threads;
}

void Waiters::first_unpark() {
  if (!list_.empty()) list_.front()->parker.unpark();
}

void Waiters::left() {
  if (!leader_) first_unpark();
  if (closer_ && list_.empty()) closer_->unpark();
  if (progress_thread_rests_ && !leader_) progress_thread_.parker.unpark();
}

void Waiters::wake_all() {
  generation_++;
  for (Waiter* waiter = list_.front(); waiter; waiter = list_.next(*waiter)) {
    if (waiter != leader_) waiter->parker.unpark();
  }
  wake_sleeper();
}

void Waiters::wake_satisfied(protocol::Endpoint& engine, std::uint64_t events, const Waiter* self) {
  if (events == events_seen_) return;
  events_seen_ = events;
  for (Waiter* waiter = list_.front(); waiter; waiter = list_.next(*waiter)) {
    if (waiter == self || !waiter->predicate.satisfied(engine)) continue;
    if (waiter != leader_)
      waiter->parker.unpark();
    else
      wake_sleeper();
  }
}

}  // namespace omx::runtime
