// SPDX-License-Identifier: BSD-3-Clause
// How an endpoint begins and ends.
//
//            claim_take()          link_open()           engine_start()
//   new --------------> claimed ------------> connected ----------------> open
//                                                                          |
//   gone <------------------- closing <------------------------------------+
//          engine_end()         |  ^         close_begin()
//                               +--+ close_drive()
//
// While it is open, an outage of its interface suspends the endpoint until the interface is back
// (outage_watch.h).
#pragma once

#include <atomic>
#include <vector>

#include "base/expected.h"
#include "protocol/config.h"
#include "runtime/endpoint/board_answers.h"
#include "runtime/endpoint/bulk_reading.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/engine_turn.h"
#include "runtime/endpoint/intra_node.h"
#include "runtime/endpoint/leader_turns.h"
#include "runtime/endpoint/peer_names.h"
#include "runtime/endpoint/polling.h"
#include "runtime/endpoint/progression.h"
#include "runtime/endpoint/rails.h"
#include "runtime/endpoint/upkeep.h"
#include "runtime/wait/progress_driver.h"
#include "runtime/wait/sleeping.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

class Lifecycle {
 public:
  struct Parts {
    EndpointCore& core;
    Progression& progression;
    BoardAnswers& answers;
    PeerNames& names;
    IntraNode& intra_node;
    Rails& rails;
    BulkReading& bulk;
    Upkeep& upkeep;
    EngineTurn& turn;
    Polling& polling;
    LeaderTurns& turns;
    Waiters& waiters;
    Sleeping& sleeping;
    ProgressDriver& progress;
  };
  explicit Lifecycle(const Parts& parts) : parts_(parts) {}

  // --- setting up, in this order ---
  Result<void> claim_take(Claim claim);
  Result<void> link_open(PeerTable& peers, const std::vector<Board>& boards);
  void engine_start(const protocol::Config& config);
  void progress_start();

  // --- closing, in this order; the lock is not held ---
  // Makes waiting threads return, and waits until none is inside any more.
  void close_begin();
  // Drives the engine for a moment (at most `most`). Returns whether nothing is left to be acknowledged.
  bool close_drive(TimeNs most);
  void close_end();
  // Ends the engine before the parts are destroyed, even if the endpoint was never fully opened.
  void engine_end();

  // Keeps close_begin() waiting, because a thread of another part of the process uses the endpoint without
  // owning it.
  void pin() { pins_.fetch_add(1, std::memory_order_acq_rel); }
  void unpin() { pins_.fetch_sub(1, std::memory_order_acq_rel); }

 private:
  void waiters_leave();

  const Parts parts_;
  std::atomic<unsigned> pins_{0};
};

}  // namespace omx::runtime
