// SPDX-License-Identifier: BSD-3-Clause
// One turn of the engine: frames in, timers, frames out.
#pragma once

#include "runtime/endpoint/bulk_reading.h"
#include "runtime/endpoint/burst.h"
#include "runtime/endpoint/completion_feed.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/frame_intake.h"
#include "runtime/endpoint/intra_node.h"
#include "runtime/endpoint/peer_reports.h"
#include "runtime/endpoint/progression.h"
#include "runtime/endpoint/rails.h"
#include "runtime/endpoint/silence_reports.h"
#include "runtime/endpoint/upkeep.h"

namespace omx::runtime {

class EngineTurn {
 public:
  struct Parts {
    EndpointCore& core;
    const Progression& progression;
    Burst& burst;
    FrameIntake& intake;
    Rails& rails;
    IntraNode& intra_node;
    BulkReading& bulk;
    CompletionFeed& feed;
    PeerReports& reports;
    SilenceReports& silence;
    Upkeep& upkeep;
  };
  explicit EngineTurn(const Parts& parts) : parts_(parts) {}

  // Takes a turn. Returns whether frames came. Does nothing inside the handler or while progression is
  // disabled.
  bool run();
  // Returns whether frames wait, as far as the cheapest poll of each link tells.
  bool frames_wait() const {
    return parts_.core.link->pending() || (parts_.core.hub && parts_.core.hub->pending()) ||
           (!parts_.rails.empty() && parts_.rails.pending());
  }

 private:
  std::size_t ring_turn();
  std::size_t share_turn();
  void timers_turn(bool frames);

  const Parts parts_;
  unsigned behind_ = 0;  // turns in a row that left frames unread
};

}  // namespace omx::runtime
