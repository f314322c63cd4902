// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/engine_turn.h"

#include <cassert>

#include "base/clock.h"

namespace omx::runtime {

namespace {

// Frames per turn: enough to amortise the turn, few enough that other threads get the lock.
constexpr std::size_t kBudget = 64;
// Frames that a turn takes while it waits for large messages of this host. They may bring others.
constexpr std::size_t kShareBudget = 4096;
// A sender that copies nothing for this long does something else. Those that copy do so every half
// microsecond.
constexpr TimeNs kShareIdle = 4'000;
// How many turns in a row timers wait until frames that have arrived are read. They cover all that a ring
// holds.
constexpr unsigned kBehindMost = 256;

}  // namespace

bool EngineTurn::run() {
  EndpointCore& core = parts_.core;
  assert(core.lock.owned());
  if (parts_.progression.stopped()) return false;
  core.turns++;
  core.last_turn = core.now;
  parts_.burst.turn_taken();
  parts_.burst.end();
  if (core.copies)
    core.copies->frames(Copies::Frames::passing);  // an exception may have cut the last turn short
  std::size_t frames = parts_.intake.deferred_process();
  frames += ring_turn();
  if (!parts_.rails.empty()) [[unlikely]]
    frames += parts_.rails.receive(kBudget);
  if (core.hub) frames += parts_.intra_node.turn(kBudget);
  // Asks for the rest of a lone large message before its beginning is read.
  if (frames > 0 && core.engine->held_question()) core.engine->release(core.now);
  if (core.engine->sharing()) [[unlikely]]
    frames += share_turn();
  frames += parts_.bulk.turn(kBudget);
  parts_.feed.run();  // answers of the sink's owner carry the acknowledgements
  if (core.now >= core.engine->next_deadline() || core.engine->copies_awaited()) timers_turn(frames > 0);
  if (core.engine->held_any()) core.engine->release(core.now);
  core.out->flush();
  if (parts_.upkeep.due()) parts_.upkeep.run();
  if (core.engine->news()) [[unlikely]]
    parts_.reports.news();  // of peers that had no operation to end
  parts_.feed.run();        // the end of a peer on this host needs no frame
  return frames > 0;
}

void EngineTurn::timers_turn(bool frames) {
  bool more = parts_.bulk.late() || frames_wait();
  more = more && frames && behind_++ < kBehindMost;
  if (!more) behind_ = 0;
  parts_.core.engine->progress(parts_.core.now, more);
  parts_.silence.found();
  parts_.feed.run();
}

// Takes the frames of large messages of this host to their ends, or reads what their senders do not copy. The
// caller may not come back soon, so none of them is left half read.
std::size_t EngineTurn::share_turn() {
  EndpointCore& core = parts_.core;
  std::size_t frames = 0;
  TimeNs idle_since = core.now = core.clock.read();
  while (core.engine->sharing() && !parts_.progression.stopped()) {
    core.engine->share_begin(core.now);
    if (core.engine->held_any()) core.engine->release(core.now);
    core.out->flush();
    core.now = core.clock.read();
    if (core.hub->pending() && frames < kShareBudget) {
      frames += parts_.intra_node.turn(kBudget);
      idle_since = core.now;
    } else if (!core.engine->share_asked() || core.now - idle_since > kShareIdle || frames >= kShareBudget) {
      core.engine->share_step(core.now);
    } else {
      cpu_relax();
    }
  }
  return frames;
}

std::size_t EngineTurn::ring_turn() {
  EndpointCore& core = parts_.core;
  if (!core.copies) return core.link->receive(parts_.intake, kBudget);
  core.copies->frames(Copies::Frames::of_ring);
  const std::size_t frames = core.link->receive(parts_.intake, kBudget);
  core.copies->frames(Copies::Frames::passing);
  if (core.copies->busy()) core.copies->tend();
  return frames;
}

}  // namespace omx::runtime
