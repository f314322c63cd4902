// SPDX-License-Identifier: BSD-3-Clause
// Another board of an endpoint (docs/explanation/rails.md): its link, and the handler of frames that come by
// it.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "link/transport.h"
#include "runtime/board/boards.h"
#include "runtime/board/claim.h"
#include "runtime/endpoint/counters_shared.h"
#include "runtime/endpoint/expected_frames.h"
#include "runtime/endpoint/frame_intake.h"

namespace omx::runtime {

// The claim of the endpoint's id on that board.
struct RailClaim {
  Board board;
  Claim claim;
};

class Rail final : public link::FrameHandler, public link::BulkHandler {
 public:
  // `number`: from 1 on, as 0 is the endpoint's own board.
  Rail(FrameIntake& intake, ExpectedFrames& expected, unsigned number, RailClaim claimed,
       std::unique_ptr<link::Transport> its_link)
      : link(std::move(its_link)),
        board(std::move(claimed.board)),
        claim(std::move(claimed.claim)),
        intake_(intake),
        expected_(expected),
        number_(number) {}

  unsigned number() const { return number_; }

  void on_frame(wire::Frame frame) override { intake_.on_rail_frame(number_, frame); }
  std::size_t bulk_places(std::span<iovec> places) override { return expected_.places(places, number_); }
  bool bulk_in_place(std::size_t index, wire::Frame frame) override {
    return expected_.in_place(index, frame);
  }
  void on_bulk_placed(std::size_t index, wire::Frame frame) override {
    expected_.placed(index, frame, number_);
  }
  void on_bulk_frame(wire::Frame frame) override { on_frame(frame); }

  std::unique_ptr<link::Transport> link;
  std::unique_ptr<CounterSegment> segment;  // what other processes read of the rail
  Board board;
  Claim claim;  // to the endpoint's id on that board
  bool up = true;
  link::Outage outage = link::Outage::none;

 private:
  FrameIntake& intake_;
  ExpectedFrames& expected_;
  unsigned number_;
};

}  // namespace omx::runtime
