// SPDX-License-Identifier: BSD-3-Clause
// Where frames enter an endpoint. The engine takes frames for its id, and the board's answers get the
// others. This is the only place in the runtime that asks whether a frame is for this endpoint.
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
  void frames_marked(bool marked) override;
  void on_refused(wire::Frame frame) override;
  // Takes a frame from another board of the endpoint. That board's link receives for this endpoint alone.
  void on_rail_frame(unsigned rail, wire::Frame frame);

  // Processes the frames of the batch in which the handler disabled progression. Returns how many there
  // were.
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
