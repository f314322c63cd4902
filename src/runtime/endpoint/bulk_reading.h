// SPDX-License-Identifier: BSD-3-Clause
// When an endpoint reads the paths of large messages: the kernel's bulk path for frames, and the UDP bulk
// path. Each poll of a path is a system call, so a path is polled only when something may lie there.
//
//            announced or asked for, or 1 ms has passed             frames
//   not polled ------------------------------------------> polled ----------> busy: polled in each turn
//       ^                                                    |                        |
//       +----------------------------------------------------+--- kBusyNs without ----+
#pragma once

#include "runtime/endpoint/bulk_placement.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/expected_frames.h"
#include "runtime/endpoint/frame_intake.h"
#include "runtime/endpoint/rails.h"
#include "runtime/wait/spin_budget.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

class BulkReading final : public link::BulkHandler {
 public:
  BulkReading(EndpointCore& core, FrameIntake& intake, ExpectedFrames& expected, Rails& rails,
              const SpinBudget& budget, Waiters& waiters)
      : core_(core),
        intake_(intake),
        expected_(expected),
        rails_(rails),
        spin_budget_(budget),
        waiters_(waiters) {}

  // Begins the trial of both ways to place the data of large messages.
  void trial_begin() { placement_.begin(core_.settings.ring_bytes); }
  // Reads both paths if frames may be there. Returns how many came.
  std::size_t turn(std::size_t budget) { return quiet() ? 0 : read(budget); }
  // Returns whether the next turn polls both paths, even if no large message is on its way.
  bool late() const { return late_; }
  void late_is(bool late) { late_ = late; }
  // Says that neither path held a frame just now.
  void nothing_came() { polled_ = core_.now; }

  wire::FrameSender bulk_sender(const wire::BulkAddress& from) override {
    return core_.engine->bulk_sender(from);
  }
  bool bulk_more() override { return udp_bulk_polls_ || core_.engine->bulk_wanted(core_.now); }
  std::size_t bulk_places(std::span<iovec> places) override { return expected_.places(places, 0); }
  std::size_t udp_bulk_places(std::span<iovec> places, std::size_t& header) override {
    return expected_.udp_bulk_places(places, header);
  }
  bool bulk_in_place(std::size_t index, wire::Frame frame) override {
    return expected_.in_place(index, frame);
  }
  void on_bulk_placed(std::size_t index, wire::Frame frame) override { expected_.placed(index, frame, 0); }
  void bulk_marked(bool marked) override { intake_.frames_marked(marked); }
  void on_bulk_frame(wire::Frame frame) override { intake_.on_frame(frame); }

 private:
  // A path may hold frames whose announcement found nothing. They must be read before their message number
  // comes round again.
  static constexpr TimeNs kPollPeriod = protocol::kMillisecond;

  // Returns whether neither path has to be read. The usual answer, at the least cost.
  bool quiet() const {
    return !late_ && core_.now - polled_ < kPollPeriod && core_.now >= udp_bulk_busy_until_ &&
           core_.now >= bulk_busy_until_ && !core_.engine->bulk_expected();
  }
  std::size_t read(std::size_t budget);
  std::size_t udp_bulk_turn(bool late, std::size_t budget);
  std::size_t bulk_turn(bool late, std::size_t budget);
  void placement_choose();

  EndpointCore& core_;
  FrameIntake& intake_;
  ExpectedFrames& expected_;
  Rails& rails_;
  const SpinBudget& spin_budget_;
  Waiters& waiters_;
  BulkPlacement placement_;
  TimeNs polled_ = 0;
  // Until when a path counts as busy: it had unannounced frames a moment ago, so more are likely.
  TimeNs udp_bulk_busy_until_ = 0, bulk_busy_until_ = 0;
  bool late_ = false;
  bool udp_bulk_polls_ = false;  // polls the UDP bulk path even if no frame is known to be there
};

}  // namespace omx::runtime
