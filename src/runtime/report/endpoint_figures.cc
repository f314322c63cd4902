// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/report/endpoint_figures.h"

#include <fmt/format.h>
#include <sched.h>

#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

// At exit() another thread may keep the lock, in a handler that does not return.
constexpr int kLockTries = 1000;

bool lock(EndpointLock& lock) {
  for (int i = 0; i < kLockTries; i++) {
    if (lock.try_lock()) return true;
    ::sched_yield();
  }
  return false;
}

std::string link_text(const Board& board, const link::Transport& link) {
  return fmt::format("{} by {}", board.interface.name, link.name());
}

}  // namespace

// Without the lock, the counters of the links are up to a second old.
void report_add(Endpoint& endpoint, ReportTotals& totals) {
  Endpoint::Impl& impl = endpoint.impl();
  const EndpointCore& core = impl.core;
  const bool locked = lock(impl.core.lock);
  if (locked) impl.publication.counters();
  const SharedCounters& counters = core.segment->counters();
  const ReportPath frames = core.board.udp                    ? ReportPath::udp
                            : counters.link.frames_by_xdp > 0 ? ReportPath::xdp
                                                              : ReportPath::raw_frames;
  totals.endpoint_add(counters, frames);
  totals.link_add(link_text(core.board, *core.link));
  for (const auto& rail : impl.rails.all()) {
    if (rail->segment) totals.rail_add(rail->segment->counters().link);
    totals.link_add(link_text(rail->board, *rail->link));
  }
  if (locked) impl.core.lock.unlock();
}

}  // namespace omx::runtime
