// SPDX-License-Identifier: BSD-3-Clause
// Where frames enter an endpoint: the engine takes those for its id, the board's answers see the others.
// Whether a frame is for this endpoint is asked here and nowhere else in the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/endpoint/board_answers.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/progression.h"

namespace omx::runtime {

class FrameIntake final : public link::FrameHandler {
 public:
  FrameIntake(EndpointCore& core, const Progression& progression, BoardAnswers& answers)
      : core_(core), progression_(progression), answers_(answers) {}

  void on_frame(wire::Frame frame) override;
  std::uint64_t frame_held() override { return core_.copies ? core_.copies->taken() : 0; }
  void on_refused(wire::Frame frame) override;
  // A frame of another board of the endpoint, which receives for this endpoint alone.
  void on_rail_frame(unsigned rail, wire::Frame frame);

  // Frames of the batch in which the handler disabled progression. Returns how many there were.
  std::size_t deferred_process() { return deferred_.empty() ? 0 : deferred_take(); }

 private:
  void defer(unsigned rail, wire::Frame frame);
  std::size_t deferred_take();

  EndpointCore& core_;
  const Progression& progression_;
  BoardAnswers& answers_;
  std::vector<std::pair<unsigned, std::vector<std::byte>>> deferred_;  // with their rail
};

}  // namespace omx::runtime
