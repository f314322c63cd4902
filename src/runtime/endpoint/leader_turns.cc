// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/leader_turns.h"

#include <algorithm>
#include <cassert>

#include "base/time_slice.h"

namespace omx::runtime {

static_assert(WaitTurns<LeaderTurns>);

SleepRequest LeaderTurns::sleep_request(TimeNs deadline) {
  EndpointCore& core = parts_.core;
  SleepRequest request;
  request.until = deadline;
  // While another thread runs the handler, no frame can be processed either. The end of the handler wakes
  // this thread.
  request.stopped = parts_.progression.stopped();
  request.unread = parts_.bulk.late();
  if (request.stopped) return request;
  request.until = std::min({deadline, engine_deadline(), parts_.intra_node.deadline()});
  if (parts_.publication.view_old()) request.until = std::min(request.until, parts_.upkeep.next());
  request.announced = parts_.sleeping.hears_solicited() && core.engine->bulk_awaited(core.now);
  return request;
}

// Returns when the engine needs a turn. While other threads may send, a timer that is armed too early is
// cheaper than none: each message would arm it again, and wake this thread to see it (waking.cc).
TimeNs LeaderTurns::engine_deadline() const {
  protocol::Endpoint& engine = *parts_.core.engine;
  const bool alone = parts_.waiters.application_leads() && parts_.waiters.count() == 1;
  return alone ? engine.sleep_deadline(parts_.core.now) : engine.next_deadline();
}

// A thread that sleeps wants the processor soon when it is woken, and seldom for long.
void LeaderTurns::slice_shorten() const {
  thread_local std::uint32_t asked = 0;
  const std::uint32_t slice = parts_.core.settings.waiting.slice_us;
  if (slice == asked) return;
  asked = slice;
  if (slice > 0) time_slice_shorten(TimeNs{slice} * 1000);
}

// Sleeps as the leader, with the lock released. Returns false when a signal ended the sleep.
bool LeaderTurns::sleep(TimeNs deadline) {
  EndpointCore& core = parts_.core;
  assert(core.lock.owned());
  if (core.copies && core.copies->outstanding()) {
    // No descriptor reports when copies are done.
    core.copies->wait(deadline);
    core.give_way();
    return true;
  }
  const auto plan = parts_.sleeping.plan(sleep_request(deadline));
  if (!plan) {
    // Frames that never cease must not stop the clock, nor keep the lock from other threads.
    core.give_way();
    return true;
  }
  slice_shorten();
  parts_.publication.counters();  // no thread may publish for long
  const SleepEnd end = parts_.sleeping.sleep(parts_.waiters.slot(), *plan);
  count_wakeup();
  if (end.dismissed) return true;
  if (end.hub) parts_.intra_node.hurry();
  if (end.hub_quiet) parts_.intra_node.quiet();
  if (end.bulk) parts_.bulk.late_is(true);
  if (end.bulk_quiet) parts_.bulk.nothing_came();
  if (end.rails_failed) parts_.interfaces.check_rails();
  if (end.link_failed) parts_.upkeep.link_check();
  count(end.by);
  return !end.interrupted;
}

void LeaderTurns::count(SleepEnd::WokenBy by) {
  SharedCounters& counters = parts_.core.segment->counters();
  switch (by) {
    case SleepEnd::WokenBy::solicited:
      counters.wakeups_solicited++;
      break;
    case SleepEnd::WokenBy::announced:
      counters.wakeups_announced++;
      break;
    case SleepEnd::WokenBy::frame:
      counters.wakeups_frame++;
      break;
    case SleepEnd::WokenBy::timer:
      counters.wakeups_moderated++;
      break;
    case SleepEnd::WokenBy::other:
      break;
  }
}

void LeaderTurns::sleep_learn(bool frames, bool useful) {
  SharedCounters& counters = parts_.core.segment->counters();
  parts_.sleeping.learn(frames, useful, parts_.rails.frames_received(),
                        counters.engine[protocol::Counter::messages_received]);
  counters.deferred = parts_.sleeping.deferred();
}

}  // namespace omx::runtime
