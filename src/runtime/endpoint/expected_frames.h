// SPDX-License-Identifier: BSD-3-Clause
// Where the engine expects the data of the next frames of large messages. Links that receive frames straight
// into their place ask for it.
#pragma once

#include <array>
#include <span>

#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/progression.h"

namespace omx::runtime {

// The places for the batch that is being received. One link at a time receives a batch.
class ExpectedFrames {
 public:
  ExpectedFrames(EndpointCore& core, const Progression& progression)
      : core_(core), progression_(progression) {}

  // Stores places. Returns how many are known. Rail 0 is the endpoint's own board.
  std::size_t places(std::span<iovec> places, unsigned rail);
  std::size_t udp_bulk_places(std::span<iovec> places, std::size_t& header);
  bool in_place(std::size_t index, wire::Frame frame) const {
    return core_.engine->is_expected(frames_[index], frame);
  }
  void placed(std::size_t index, wire::Frame frame, unsigned rail) {
    core_.engine->on_placed(core_.now, frames_[index], frame, rail);
  }

 private:
  template <class Expect>
  std::size_t places_from(Expect expect, std::span<iovec> places);

  EndpointCore& core_;
  const Progression& progression_;
  std::array<protocol::ExpectedFrame, 64> frames_;
};

}  // namespace omx::runtime
