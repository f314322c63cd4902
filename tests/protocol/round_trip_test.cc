// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/round_trip.h"
#include "protocol/actions/connect_tx.h"
#include "protocol/state/pull_window.h"

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

constexpr TimeNs kMicrosecond = 1000;

TEST(RoundTrip, patience__follows_what_answers_take) {
  RoundTrip trip;
  EXPECT_FALSE(trip.known());
  trip.measured(0, 100 * kMicrosecond);
  EXPECT_EQ(trip.smoothed(), 100 * kMicrosecond);
  EXPECT_EQ(trip.patience(), 300 * kMicrosecond) << "as RFC 6298 has it";
  for (int i = 0; i < 100; i++) trip.measured(0, 100 * kMicrosecond);
  EXPECT_LT(trip.patience(), 105 * kMicrosecond);
  for (int i = 0; i < 100; i++) trip.measured(0, 30 * kMillisecond);
  EXPECT_GT(trip.patience(), 29 * kMillisecond);
  for (int i = 0; i < 100; i++) trip.measured(0, i % 2 ? 10 * kMillisecond : 30 * kMillisecond);
  EXPECT_GT(trip.patience(), 40 * kMillisecond) << "answers that vary";
}

// After the loss of the first request a peer on the same switch is known as one with the first clean answer.
TEST(RoundTrip, waited__is_a_bound_until_something_is_measured) {
  RoundTrip trip;
  trip.waited(20 * kMillisecond);
  EXPECT_TRUE(trip.known());
  EXPECT_EQ(trip.least(), 0U);
  EXPECT_EQ(trip.patience(), 60 * kMillisecond);
  trip.measured(0, 50 * kMicrosecond);
  EXPECT_EQ(trip.patience(), 150 * kMicrosecond);
}

TEST(RoundTrip, measured__times_of_any_length) {
  RoundTrip trip;
  trip.measured(0, 0);
  EXPECT_TRUE(trip.known());
  trip.measured(0, kNever);
  EXPECT_GT(trip.patience(), kSecond / 2);
  EXPECT_LT(trip.patience(), 60 * kSecond);
}

TEST(RoundTrip, least__rises_when_no_answer_is_as_short) {
  RoundTrip trip;
  EXPECT_EQ(trip.least(), 0U);
  trip.measured(0, 20 * kMicrosecond);
  for (TimeNs now = 0; now < 5 * kSecond; now += kSecond / 10) trip.measured(now, 50 * kMicrosecond);
  EXPECT_LT(trip.least(), 40 * kMicrosecond);
  for (TimeNs now = 5 * kSecond; now < 60 * kSecond; now += kSecond / 10)
    trip.measured(now, 50 * kMicrosecond);
  EXPECT_EQ(trip.least(), 50 * kMicrosecond);
  trip.waited(10 * kMicrosecond);
  EXPECT_EQ(trip.least(), 50 * kMicrosecond) << "that may be the answer to something earlier";
}

TEST(RoundTrip, lateness__grows_with_what_is_late_and_is_forgotten) {
  RoundTrip trip;
  trip.measured(0, kMillisecond);
  EXPECT_EQ(trip.lateness(), 0U);
  trip.overtaken(0, 400 * kMicrosecond);
  EXPECT_EQ(trip.lateness(), 250 * kMicrosecond) << "one may be a mistake";
  trip.overtaken(0, 400 * kMicrosecond);
  EXPECT_EQ(trip.lateness(), 500 * kMicrosecond);
  for (int i = 0; i < 100; i++) trip.overtaken(0, kSecond);
  EXPECT_EQ(trip.lateness(), kMillisecond) << "more than a round trip is a repetition";
  trip.lost();
  EXPECT_LT(trip.lateness(), kMillisecond);
  trip.measured(10 * kSecond, kMillisecond);
  EXPECT_LT(trip.lateness(), 2 * kMicrosecond);
}

class RoundTripOf : public PairTest {
 protected:
  std::uint64_t repeated() const {
    return a->counters[Counter::resend_tail] + a->counters[Counter::resend_timeout] +
           a->counters[Counter::resend_sack] + b->counters[Counter::pull_rerequest_timer] +
           b->counters[Counter::pull_rerequest_gap];
  }
};

TEST_F(RoundTripOf, far_peer__nothing_is_repeated) {
  open();
  for (const TimeNs delay : {15 * kMillisecond, 100 * kMillisecond}) {
    network.faults.late = [delay](const Bytes&) { return delay; };
    for (int i = 0; i < 30; i++)  // measures the distance
      for (const std::size_t length : {20, 5000, 100000}) exchange(*a, to_b, *b, length);
    const std::uint64_t before = repeated();
    for (int i = 0; i < 20; i++)
      for (const std::size_t length : {20, 5000, 100000}) exchange(*a, to_b, *b, length);
    EXPECT_LE(repeated() - before, 2U) << delay;
  }
}

TEST_F(RoundTripOf, near_peer__what_is_lost_is_repeated_within_milliseconds) {
  open();
  for (int i = 0; i < 20; i++) exchange(*a, to_b, *b, 20);
  for (int lost = 1; lost <= 3; lost++) {
    network.faults.drop = drop_next(wire::PacketType::tiny, lost);
    const TimeNs began = network.now;
    exchange(*a, to_b, *b, 20);
    EXPECT_LT(network.now - began, (5 * kMillisecond) << lost) << lost;
    exchange(*a, to_b, *b, 20);
  }
}

TEST_F(RoundTripOf, slow_peer__is_not_overwhelmed) {
  open();
  // The peer's application calls the library every 12 ms.
  for (int i = 0; i < 200; i++) {
    b->paused = true;
    (void)send(*a, to_b, message(20), 1);
    network.run_for(12 * kMillisecond);
    b->paused = false;
    (void)receive(*b, room(20), 1);
    network.run_for(kMillisecond / 10);
  }
  EXPECT_LT(repeated(), 100U) << "patience grows to what it takes";
}

// A stopped peer owes an acknowledgement, so it is pinged. The late answer says nothing about the path.
TEST_F(RoundTripOf, stopped_peer__is_not_taken_for_a_far_one) {
  open();
  for (int i = 0; i < 20; i++) exchange(*a, to_b, *b, 20);
  b->paused = true;
  (void)send(*a, to_b, message(20), 1);
  network.run_for(1950 * kMillisecond);
  b->paused = false;
  EXPECT_EQ(wait(*b, receive(*b, room(20), 1)).status, Status::success);
  network.run_for(100 * kMillisecond);
  for (const auto type : {wire::PacketType::tiny, wire::PacketType::pull}) {
    network.faults.drop = drop_next(type, 1);
    const TimeNs began = network.now;
    exchange(*a, to_b, *b, type == wire::PacketType::pull ? 100000 : 20);
    EXPECT_LT(network.now - began, 150 * kMillisecond) << static_cast<int>(type);
  }
}

TEST_F(RoundTripOf, farther_peer__is_learnt_whatever_the_step) {
  for (const TimeNs delay : {1250, 1400, 1500, 1600, 1700, 2500, 4000}) {
    network.clear();
    network.faults.late = nullptr;
    open();
    for (int i = 0; i < 20; i++) exchange(*a, to_b, *b, 20);
    network.faults.late = [delay](const Bytes&) { return delay * kMicrosecond; };
    for (int i = 0; i < 300; i++) {
      (void)send(*a, to_b, message(20), 1);
      (void)receive(*b, room(20), 1);
      network.run_for(15 * kMillisecond);
    }
    EXPECT_LT(a->counters[Counter::resend_tail], 150U) << delay << " us";
  }
}

TEST_F(RoundTripOf, window__of_a_long_way_is_not_that_of_a_short_one) {
  open();
  network.faults.late = [](const Bytes&) { return 10 * kMillisecond; };
  for (int i = 0; i < 6; i++) exchange(*a, to_b, *b, 4000000);
  auto& state = (*b)->state();
  state.pulling.alone = CongestionWindow(20U << 20);  // as a longer stream would make it
  network.faults.late = nullptr;
  for (int i = 0; i < 4; i++) {
    network.run_for(kSecond);
    exchange(*a, to_b, *b, 4000000);
  }
  EXPECT_LE(pull_allowed(state), state.config.pull_window_bytes);
}

TEST_F(RoundTripOf, dead_peer__is_given_up_in_time_whatever_was_asked) {
  Config config;
  config.reliability.peer_timeout = 200 * kMillisecond;
  open(config, config);
  trip_ask((*a)->state(), *to_b);
  network.run_for(kMillisecond);
  b->paused = true;
  Request* const large = send(*a, to_b, message(100000), 1);
  const TimeNs began = network.now;
  EXPECT_EQ(wait(*a, large).status, Status::endpoint_unreachable);
  EXPECT_LT(network.now - began, 400 * kMillisecond);
}

TEST_F(RoundTripOf, dead_peer__is_given_up_though_it_was_slow) {
  for (const TimeNs most : {1000, 5, 1}) {
    network.clear();
    Config config;
    config.reliability.peer_timeout = 3 * kSecond;
    config.reliability.resend_delay_max = most * kMillisecond;
    open(config, config);
    for (int i = 0; i < 10; i++) to_b->tx.trip.measured(network.now, 4 * kSecond);
    b->paused = true;
    (void)send(*a, to_b, message(20), 1);
    const TimeNs began = network.now;
    ASSERT_TRUE(network.run_until([&] { return !to_b->connected(); }, 60 * kSecond)) << most;
    EXPECT_LT(network.now - began, 6 * kSecond);
  }
}

TEST_F(RoundTripOf, overtaken_frames__are_waited_for) {
  int n = 0;
  network.faults.late = [&n](const Bytes&) { return kMillisecond + (n++ % 10 == 0 ? kMillisecond / 5 : 0); };
  open();
  const auto burst = [&] {
    for (int i = 0; i < 100; i++) (void)send(*a, to_b, message(300), 1);
    for (int i = 0; i < 100; i++) EXPECT_EQ(wait(*b, receive(*b, room(300), 1)).status, Status::success);
    exchange(*a, to_b, *b, 200000);
  };
  burst();
  const std::uint64_t before = repeated();
  for (int i = 0; i < 10; i++) burst();
  EXPECT_LE(repeated() - before, 10U);
}

}  // namespace
}  // namespace omx::protocol::test
