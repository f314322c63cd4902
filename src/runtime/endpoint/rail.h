// SPDX-License-Identifier: BSD-3-Clause
// Another board of an endpoint (docs/rails.md): its link, and who takes what comes by it.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "link/transport.h"
#include "runtime/board/boards.h"
#include "runtime/board/claim.h"
#include "runtime/endpoint/counters_shared.h"
#include "runtime/endpoint/endpoint.h"

namespace omx::runtime {

// The endpoint's id on that board is ours.
struct RailClaim {
  Board board;
  Claim claim;
};

class Rail final : public link::FrameHandler, public link::BulkHandler {
 public:
  Rail(Endpoint::Impl& impl, unsigned number, RailClaim claimed, std::unique_ptr<link::Transport> its_link)
      : link(std::move(its_link)),
        board(std::move(claimed.board)),
        claim(std::move(claimed.claim)),
        impl_(impl),
        number_(number) {}

  unsigned number() const { return number_; }

  void on_frame(wire::Frame frame) override;
  std::size_t bulk_places(std::span<iovec> places) override;
  bool bulk_in_place(std::size_t index, wire::Frame frame) override;
  void on_bulk_placed(std::size_t index, wire::Frame frame) override;
  void on_bulk_frame(wire::Frame frame) override { on_frame(frame); }

  std::unique_ptr<link::Transport> link;
  std::unique_ptr<CounterSegment> segment;  // what others read of it
  Board board;
  Claim claim;  // of the endpoint's id on that board
  bool up = true;
  link::Outage outage = link::Outage::none;
  protocol::TimeNs quiet_until = 0;  // its descriptor reported an error: not polled until then

 private:
  Endpoint::Impl& impl_;
  unsigned number_;  // from 1 on: 0 is the endpoint's own board
};

}  // namespace omx::runtime
