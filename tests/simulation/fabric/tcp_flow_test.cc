// SPDX-License-Identifier: BSD-3-Clause
// A modelled TCP flow on a path that loses what the test says.
#include "simulation/fabric/tcp_flow.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace omx::simulation::fabric {
namespace {

using protocol::kMillisecond;

// A path with a delay and no queue.
class LossyPath final : public TcpSurroundings, public EventTarget {
 public:
  static constexpr TimeNs kDelay = kMillisecond / 2;

  LossyPath() : flow(*this, TcpEnds{0, 0, 1}, TcpKind::reno) { options_.tcp_delay = 0; }

  const FabricOptions& options() const override { return options_; }
  TimeNs now() const override { return events_.now(); }
  PacketPool& packets() override { return packets_; }
  void schedule(TimeNs at, EventTarget& target, std::uint64_t argument) override {
    events_.schedule(at, target, argument);
  }
  void transmit(std::uint32_t packet) override {
    if (lost && lost(packets_[packet].tcp)) return packets_.destroy(packet);
    schedule(now() + kDelay, *this, packet);
  }
  void transmit_at(TimeNs, std::uint32_t packet) override { transmit(packet); }
  std::uint64_t nic_queued(std::uint32_t) const override { return 0; }
  TimeNs nic_time(std::uint64_t) const override { return 0; }
  void on_event(std::uint64_t packet) override {
    const TcpSegment segment = packets_[static_cast<std::uint32_t>(packet)].tcp;
    packets_.destroy(static_cast<std::uint32_t>(packet));
    flow.arrived(segment);
  }
  void run_for(TimeNs time) {
    const TimeNs end = now() + time;
    while (events_.step(end)) {
    }
    events_.skip_to(end);
  }

  std::function<bool(const TcpSegment&)> lost;

 private:
  FabricOptions options_;
  EventQueue events_;
  PacketPool packets_;

 public:
  TcpFlow flow;
};

TEST(fabric_tcp_flow, slow_start__doubles_each_round_trip) {
  LossyPath path;
  path.flow.start();
  EXPECT_EQ(path.flow.figures().sent, 10U);
  path.run_for(2 * LossyPath::kDelay);
  EXPECT_EQ(path.flow.figures().sent, 30U);
  path.run_for(2 * LossyPath::kDelay);
  EXPECT_EQ(path.flow.figures().sent, 70U);
  EXPECT_EQ(path.flow.figures().delivered, 30U);
}

TEST(fabric_tcp_flow, one_lost_segment__halves_the_window_and_is_sent_again) {
  LossyPath path;
  bool dropped = false;
  path.lost = [&](const TcpSegment& s) {
    return !s.acknowledges && s.segment == 20 && !std::exchange(dropped, true);
  };
  path.flow.start();
  path.run_for(10 * kMillisecond);
  EXPECT_TRUE(dropped);
  EXPECT_EQ(path.flow.figures().sent_again, 1U);
  EXPECT_EQ(path.flow.figures().timeouts, 0U);
  const std::uint64_t then = path.flow.figures().delivered;
  EXPECT_GT(then, 100U);
  // From now on the window grows by one segment a round trip.
  path.run_for(2 * LossyPath::kDelay);
  const std::uint64_t first = path.flow.figures().delivered - then;
  path.run_for(20 * LossyPath::kDelay);
  const std::uint64_t before = path.flow.figures().delivered;
  path.run_for(2 * LossyPath::kDelay);
  EXPECT_NEAR(static_cast<double>(path.flow.figures().delivered - before),
              static_cast<double>(first) + 10 + 1, 2);
}

// All that is under way is lost, so no acknowledgement tells of it.
TEST(fabric_tcp_flow, a_lost_window__is_found_by_a_probe) {
  LossyPath path;
  path.flow.start();
  path.run_for(10 * kMillisecond);
  path.lost = [](const TcpSegment&) { return true; };
  path.run_for(2 * LossyPath::kDelay + kMillisecond / 4);
  path.lost = nullptr;
  const std::uint64_t then = path.flow.figures().delivered;
  path.run_for(20 * kMillisecond);
  EXPECT_GT(path.flow.figures().delivered, then + 100);
  EXPECT_EQ(path.flow.figures().timeouts, 0U);
}

TEST(fabric_tcp_flow, a_path_that_loses_all__is_tried_ever_more_rarely) {
  LossyPath path;
  path.flow.start();
  path.run_for(10 * kMillisecond);
  path.lost = [](const TcpSegment&) { return true; };
  path.run_for(3'000 * kMillisecond);
  // After 0.2, 0.6, 1.4 and not yet 3.0 s.
  EXPECT_EQ(path.flow.figures().timeouts, 3U);
  path.lost = nullptr;
  const std::uint64_t then = path.flow.figures().delivered;
  path.run_for(3'000 * kMillisecond);
  EXPECT_GT(path.flow.figures().delivered, then + 1000);
}

TEST(fabric_tcp_flow, stop__ends_it) {
  LossyPath path;
  path.flow.start();
  path.run_for(5 * kMillisecond);
  path.flow.stop();
  path.run_for(5 * kMillisecond);
  const std::uint64_t then = path.flow.figures().sent;
  path.run_for(1'000 * kMillisecond);
  EXPECT_EQ(path.flow.figures().sent, then);
  EXPECT_EQ(path.packets().live(), 0U);
}

}  // namespace
}  // namespace omx::simulation::fabric
