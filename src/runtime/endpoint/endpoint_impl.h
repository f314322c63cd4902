// SPDX-License-Identifier: BSD-3-Clause
// The parts of an open endpoint, and how they are connected. Each part below knows only parts above it. The
// core's lock guards them.
//
//   core            lock, clock, link, hub, router, engine       progression   may the engine move
//   receiving       frame_intake, expected_frames, rails, intra_node, bulk_reading; one turn: engine_turn
//   reports         peer_names, peer_reports, silence_reports, summary_line, publication; each second: upkeep
//   interfaces      outage_watch: outage and return
//   waiting         waiters, sleeping, spin_budget, waiting, progress_driver (runtime/wait); leader_turns,
//   background sending         burst, burst_sends                           lifecycle     open and close
#pragma once

#include <memory>

#include "base/fork_guard.h"
#include "runtime/board/binding.h"
#include "runtime/endpoint/background_work.h"
#include "runtime/endpoint/burst_sends.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/endpoint/leader_turns.h"
#include "runtime/endpoint/lifecycle.h"
#include "runtime/endpoint/unexpected_calls.h"

namespace omx::runtime {

class Endpoint::Impl {
 public:
  Impl(const Board& board, std::uint8_t id, std::uint32_t slot, const Settings& settings);
  ~Impl() { lifecycle.engine_end(); }

  // Returns whether this process is a forked child of the one that opened the endpoint.
  bool foreign() const { return mark_.forked(); }
  // Returns the address's peer, or nullptr when it is not an address of this endpoint.
  protocol::Peer* peer_of(const Address& address);

  // Takes a turn for a thread that only helps. Does nothing when the endpoint is in use.
  void turn_if_free();
  // Counts a call that found its result without a turn. Now and then takes a turn all the same.
  void found_turn() {
    if (!polling.due_found()) return;
    core.now = core.clock.now();
    sends.turn();
  }
  void disable();
  void reenable();

  EndpointCore core;
  Progression progression;
  Waiters waiters;
  SpinBudget spin_budget;
  Sleeping sleeping;
  Burst burst;

  BoardAnswers answers;
  FrameIntake intake;
  ExpectedFrames expected;
  Rails rails;
  IntraNode intra_node;
  BulkReading bulk;

  PeerNames names;
  PeerReports reports;
  SilenceReports silence;
  SummaryLine summary;
  CompletionFeed feed;
  Publication publication;
  OutageWatch interfaces;
  Upkeep upkeep;
  EngineTurn turn;

  Waking waking;
  UnexpectedCalls unexpected;
  ProgressDriver progress;
  Polling polling;
  LeaderTurns turns;
  Waiting<LeaderTurns> waiting;
  BackgroundWork background;
  BurstSends sends;
  Lifecycle lifecycle;
  std::shared_ptr<Seat> seat;  // of the thread that opened the endpoint

 private:
  const std::uint32_t slot_;
  ForkMark mark_;
};

// The scope of an operation: it holds the lock and sets the time.
class Operation {
 public:
  // `timed` is false if the operation needs no time, or reads the clock itself.
  explicit Operation(Endpoint::Impl& impl, bool timed = true) : impl_(impl) {
    impl_.core.lock.lock();
    impl_.core.calls++;
    if (timed) time();
  }
  void time() {
    if (impl_.core.lock.depth() == 1) impl_.core.now = impl_.core.clock.now();
  }
  ~Operation() {
    if (impl_.core.lock.depth() == 1) impl_.waking.wake_others();
    impl_.core.lock.unlock();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

 private:
  Endpoint::Impl& impl_;
};

}  // namespace omx::runtime
