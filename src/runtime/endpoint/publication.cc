// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/publication.h"

#include <atomic>

#include "base/store_ahead.h"

namespace omx::runtime {

void Publication::counters() {
  SharedCounters& counters = core_.segment->counters();
  counters.link = core_.link->counters();
  if (!rails_.empty()) rails_.publish();
  if (core_.hub) counters.local = core_.hub->counters();
}

// Returns a number that changes whenever something happens.
std::uint64_t Publication::activity() const {
  return core_.calls + core_.engine->completion_count() + rails_.frames_received() +
         (core_.hub ? core_.hub->counters().frames_received : 0);
}

void Publication::view() {
  const std::uint64_t seen = activity();
  if (seen == view_seen_) return;
  view_seen_ = seen;
  SharedView& view = core_.segment->view();
  const std::uint64_t turn = view.ended + 1;
  store_ahead(std::atomic_ref(view.begun), turn);
  core_.engine->snapshot(core_.now, view.snapshot);
  view.waiting = waiters_.count();
  using Driver = SharedView::Driver;
  view.driver = !waiters_.led()                    ? Driver::nobody
                : waiters_.progress_thread_leads() ? Driver::progress_thread
                                                   : Driver::application;
  view.stopped = progression_.disabled();
  std::atomic_ref(view.ended).store(turn, std::memory_order_release);
}

}  // namespace omx::runtime
