// SPDX-License-Identifier: BSD-3-Clause
// The path to other endpoints of this host: frames to and from them go through shared memory (local/hub.h).
#pragma once

#include <vector>

#include "base/expected.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/frame_intake.h"

namespace omx::runtime {

class IntraNode final : public local::Arrivals {
 public:
  IntraNode(EndpointCore& core, FrameIntake& intake) : core_(core), intake_(intake) {}

  // Makes the hub. Call it once, with the endpoint's id claimed.
  Result<void> open(const std::vector<Board>& boards);
  // Says that the endpoint's own board has another index now.
  void board_moved(std::uint32_t former);
  // Takes a turn of the hub. Returns how many frames came.
  std::size_t turn(std::size_t budget);
  // Returns when the hub needs a turn that no descriptor reports.
  TimeNs deadline() const;
  // Says that a peer asked to be let in. The next turn handles it.
  void hurry() { next_tick_ = 0; }
  // Says that the hub's descriptors reported nothing just now. The next turns need not ask them.
  void quiet();

  void on_local_frame(wire::Frame frame) override { intake_.on_frame(frame); }
  void on_local_gone(const local::Place& peer) override;
  void on_local_refused(wire::Frame frame) override;

 private:
  // Where endpoints of this host are claimed, by their NIC. If a board came back with another index, its
  // endpoints move there one by one.
  struct ClaimPlace {
    NicId nic = 0;
    std::uint32_t ifindex = 0, former = 0;
  };
  // A peer of this host that cannot be reached for lack of descriptors or memory.
  struct Shortage {
    local::Place to;
    TimeNs lasted = 0;
    TimeNs seen = 0;  // the last check
  };

  OwnFd connect(const local::Place& to) const;
  void shortages_check();
  void shortage_ended(const local::Place& to, TimeNs limit);

  EndpointCore& core_;
  FrameIntake& intake_;
  std::vector<ClaimPlace> places_;
  std::vector<Shortage> shortages_;
  TimeNs next_tick_ = 0, last_tick_ = 0;  // calls of the hub's tick()
  TimeNs backlog_pause_ = 0;
};

}  // namespace omx::runtime
