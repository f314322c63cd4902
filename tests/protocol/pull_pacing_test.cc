// SPDX-License-Identifier: BSD-3-Clause
// Pulls on a path that loses so much that less than a frame may be in flight
// (docs/explanation/congestion.md).
#include "protocol/snapshot.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

constexpr std::uint32_t kUnit = 8968;

class PullPacingTest : public PairTest {
 protected:
  void open_jumbo() {
    Config config;
    config.mtu = 9000;
    open(config, config);
    exchange(*a, to_b, *b, 100'000);  // large frames are proven
  }
  // Loses so many of each `of` replies.
  void lose(int count, int of) {
    network.faults.drop = [count, of, n = 0](const Bytes& f) mutable {
      return type_of(f) == wire::PacketType::pull_reply && n++ % of < count;
    };
  }
  std::uint32_t window() const { return (*b)->state().pulling.window().bytes(); }
  // Exchanges messages until the window is as wished, or for too long.
  template <class Condition>
  bool exchange_until(Condition condition) {
    for (std::uint64_t i = 0; i < 200 && !condition(); i++) exchange(*a, to_b, *b, 300'000, i);
    return condition();
  }
};

TEST_F(PullPacingTest, heavy_losses__less_than_a_frame_each_round_trip) {
  open_jumbo();
  lose(9, 10);
  ASSERT_TRUE(exchange_until([this] { return window() < kUnit / 2; }));
  EXPECT_GE(window(), 128U) << "so that requests do not end";
  network.faults = {};
  std::vector<TimeNs> asked;
  network.faults.drop = [&](const Bytes& f) {
    if (type_of(f) == wire::PacketType::pull) asked.push_back(network.now);
    return false;
  };
  const TimeNs trip = (*b)->state().pulling.rtt;
  Request* r = receive(*b, room(100'000), 7);
  (void)send(*a, to_b, message(100'000), 7);
  ASSERT_TRUE(network.run_until([&] { return !asked.empty(); }));
  Snapshot seen;
  (*b)->snapshot(network.now, seen);
  EXPECT_TRUE(seen.pull[0].paced);
  EXPECT_EQ(wait(*b, r).status, Status::success);
  ASSERT_GE(asked.size(), 3U);
  EXPECT_GE(asked[1] - asked[0], 3 * trip / 2) << "the second request waited for its time";
}

TEST_F(PullPacingTest, path_without_losses__the_window_grows_again) {
  open_jumbo();
  lose(9, 10);
  ASSERT_TRUE(exchange_until([this] { return window() < kUnit; }));
  network.faults = {};
  EXPECT_TRUE(exchange_until([this] { return window() > 8 * kUnit; }));
}

// Short synchronous messages are pulled without a turn. If each of them put off the next turn, long ones
// would wait for as long as short ones come.
TEST_F(PullPacingTest, short_messages__do_not_put_off_long_ones) {
  open_jumbo();
  Host& c = network.add((*a)->config());
  Peer* const c_to_b = connect(network, c, *b);
  ASSERT_NE(c_to_b, nullptr);
  network.run_for(kSecond);
  PullSchedule& schedule = (*b)->state().pulling;
  ASSERT_GT(schedule.rtt, 0U);
  schedule.alone = schedule.shared = CongestionWindow(kUnit / 8);  // as after heavy losses
  Request* long_one = receive(*b, room(300'000), 7);
  (void)send(c, c_to_b, message(300'000), 7);
  for (int i = 0; i < 1000 && !(*b)->done(long_one); i++) {
    Request* r = receive(*b, room(100), 8);
    Request* s = send(*a, to_b, message(100), 8, true);
    ASSERT_EQ(wait(*b, r).status, Status::success);
    ASSERT_EQ(wait(*a, s).status, Status::success);
  }
  EXPECT_TRUE((*b)->done(long_one));
}

// A sleeper asks by few requests, so that few answers wake it. They are not bounded by the window.
TEST_F(PullPacingTest, sleeper__asks_ahead_without_a_pause) {
  open_jumbo();
  PullSchedule& schedule = (*b)->state().pulling;
  schedule.alone = CongestionWindow(kUnit / 8);  // as after heavy losses, long ago
  (*b)->set_sleeping(network.now, true);
  exchange(*a, to_b, *b, 1 << 20);
  EXPECT_EQ(schedule.paced_until, 0U);
  (*b)->set_sleeping(network.now, false);
  schedule.alone = CongestionWindow(kUnit / 8);
  exchange(*a, to_b, *b, 1 << 20, 78);
  EXPECT_GT(schedule.paced_until, 0U);
}

// Each board is paced by itself, also where one message comes by several.
TEST_F(PullPacingTest, striped_pull__a_board_waits_for_its_time) {
  Config config;
  config.mtu = 9000;
  a = &network.add(config, 2);
  b = &network.add(config, 2);
  to_b = connect(network, *a, *b);
  ASSERT_NE(to_b, nullptr);
  to_b->bulk.alone = true;
  for (std::uint64_t i = 0; i < 8; i++) exchange(*a, to_b, *b, 2 << 20, i);
  std::uint64_t by_second = 0, too_soon = 0;
  PullPort& second = (*b)->state().pulling.port(1);
  network.faults.drop = [&](const Bytes& f) {
    if (type_of(f) != wire::PacketType::pull || mac_load(f.data() + 6) != Network::nic_of(1, 1)) return false;
    by_second++;
    too_soon += network.now < second.paced_until;
    return false;
  };
  exchange(*a, to_b, *b, 4 << 20, 20);
  ASSERT_GT(by_second, 0U) << "both boards are in use";
  second.paced_until = network.now + 50 * kMillisecond;
  exchange(*a, to_b, *b, 4 << 20, 21);
  EXPECT_EQ(too_soon, 0U);
}

TEST_F(PullPacingTest, few_losses__two_frames_are_always_in_flight) {
  open_jumbo();
  lose(1, 20);
  for (std::uint64_t i = 0; i < 200; i++) {
    exchange(*a, to_b, *b, 300'000, i);
    ASSERT_GE(window(), 2 * kUnit);
  }
}

}  // namespace
}  // namespace omx::protocol::test
