// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/waking.h"

#include <algorithm>
#include <cassert>

namespace omx::runtime {

void Waking::wake_concerned(const Waiter* self) {
  assert(core_.lock.owned());
  // The leader fell asleep until a deadline that may no longer be the first.
  if (waiters_.asleep() && !progression_.stopped() &&
      std::min(core_.engine->next_deadline(), intra_node_.deadline()) < waiters_.slot().until())
    waiters_.wake_sleeper();
  const std::uint64_t arrivals = core_.segment->counters().engine[protocol::Counter::unexpected];
  waiters_.wake_satisfied(*core_.engine, core_.engine->completion_count() + arrivals + core_.signals, self);
}

}  // namespace omx::runtime
