// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/lifecycle.h"

#include <sched.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "netdev/open_failure.h"
#include "runtime/endpoint/link_choice.h"

namespace omx::runtime {

namespace {
constexpr int kMxNoResources = 15;
}  // namespace

Result<void> Lifecycle::claim_take(Claim claim) {
  EndpointCore& core = parts_.core;
  assert(!core.segment);
  core.claim = std::move(claim);
  core.segment = CounterSegment::create(core.board.interface.index, core.id);
  if (!core.segment) return fail(kMxNoResources, "no memory for the counters of an endpoint");
  if (!parts_.waiters.application_slot().open())
    return tl::unexpected(link::open_failure("an eventfd of an endpoint", errno));
  return {};
}

Result<void> Lifecycle::link_open(PeerTable& peers, const std::vector<Board>& boards) {
  EndpointCore& core = parts_.core;
  assert(core.segment);
  auto opened = frames_open(core.settings, core.board, core.id, false);
  if (!opened) return tl::unexpected(opened.error());
  core.link = std::move(*opened);
  parts_.polling.open();
  auto made = Copies::create(core.settings, *core.link);
  if (made)
    core.copies = std::move(*made);
  else
    log(LogLevel::warn, "{}; the processor copies instead (OMX_COPY_ENGINE)", made.error().message);
  parts_.names.open(peers);
  parts_.answers.open(peers);
  if (core.settings.intra_node.enabled) {
    if (auto r = parts_.intra_node.open(boards); !r) return r;
  }
  core.out = std::make_unique<Router>(*core.link, core.hub.get());
  parts_.sleeping.open(*core.link, core.hub.get());
  return {};
}

void Lifecycle::engine_start(const protocol::Config& config) {
  EndpointCore& core = parts_.core;
  assert(core.out);
  assert(!core.engine);
  protocol::Config own = config;
  own.direct = core.hub.get();
  own.offload = core.copies.get();
  const bool may_try = core.settings.placement == Placement::automatic && core.link->ring();
  if (may_try && !core.copies && parts_.rails.empty()) parts_.bulk.trial_begin();
  own.bulk.pulls = !core.by_ring();
  own.history = &core.segment->view().history;
  core.engine = std::make_unique<protocol::Endpoint>(own, *core.out, core.segment->counters().engine);
  core.out->engine_is(core.engine.get());
}

void Lifecycle::progress_start() {
  EndpointCore& core = parts_.core;
  if (core.settings.waiting.progress == ProgressMode::off || parts_.progress.start(core.hub.get())) return;
  log(LogLevel::warn,
      "{} endpoint {}: no progress thread (limit of threads or open files): messages move during calls only",
      core.board.interface.name, core.id);
}

void Lifecycle::waiters_leave() {
  Parker left;
  EndpointLock& lock = parts_.core.lock;
  lock.lock();
  parts_.waiters.close();
  parts_.waiters.last_unparks(&left);
  parts_.waiters.wake_all();
  while (!parts_.waiters.empty()) {
    lock.unlock();
    left.park(protocol::kNever);
    lock.lock();
  }
  parts_.waiters.last_unparks(nullptr);
  lock.unlock();
}

void Lifecycle::close_begin() {
  EndpointCore& core = parts_.core;
  assert(!core.lock.owned());
  waiters_leave();
  parts_.progress.stop();
  core.lock.lock();
  parts_.progression.handler_wait();
  parts_.progression.enable();
  core.now = core.clock.read();
  core.copy_end();
  core.engine->deliveries_end();
  core.engine->suspend(core.now, false);
  core.engine->flush_acks(core.now);
  core.out->flush();
  core.lock.unlock();
  // Threads that hold a pin are in short calls.
  while (pins_.load(std::memory_order_acquire) > 0) ::sched_yield();
}

bool Lifecycle::close_drive(TimeNs most) {
  EndpointCore& core = parts_.core;
  const std::lock_guard guard(core.lock);
  assert(parts_.waiters.closing());
  core.now = core.clock.read();
  if (parts_.turn.run() || core.engine->drained()) return core.engine->drained();
  parts_.turns.sleep(std::min(core.now + most, core.engine->next_deadline()));
  return core.engine->drained();
}

void Lifecycle::close_end() {
  EndpointCore& core = parts_.core;
  const std::lock_guard guard(core.lock);
  core.now = core.clock.read();
  core.engine->flush_acks(core.now);
  core.out->flush();
  parts_.upkeep.last_reports();
}

void Lifecycle::engine_end() {
  {
    const std::lock_guard guard(parts_.core.lock);
    parts_.waiters.close();  // close_begin() was not called if the endpoint was never fully opened
  }
  parts_.progress.stop();
  parts_.core.engine.reset();  // before the parts through which the engine sends and in which it counts
}

}  // namespace omx::runtime
