// SPDX-License-Identifier: BSD-3-Clause
// The firmware's algorithms, frame by frame, against the pseudo-code of the coalescing paper, and the NIC
// that obeys them.
#include <gtest/gtest.h>

#include <algorithm>

#include "simulation/nic/nic.h"

namespace omx::simulation::nic {
namespace {

constexpr double kTimeout = 75'000, kStep = 5'000;

TEST(Moderator, off__each_frame_raises) {
  Moderator m(Strategy::off, kTimeout, kStep);
  for (int i = 0; i < 3; i++) m.on_arrival();
  EXPECT_TRUE(m.on_dma_done(false));
  EXPECT_TRUE(m.on_dma_done(true));
  EXPECT_TRUE(m.on_dma_done(false));
}

TEST(Moderator, timeout__no_frame_raises) {
  Moderator m(Strategy::timeout, kTimeout, kStep);
  m.on_arrival();
  m.on_arrival();
  EXPECT_FALSE(m.on_dma_done(true));
  EXPECT_FALSE(m.on_dma_done(false));
}

TEST(Moderator, timeout__of_zero_is_off) {
  Moderator m(Strategy::timeout, 0, kStep);
  m.on_arrival();
  EXPECT_TRUE(m.on_dma_done(false));
}

// Algorithm 1: "if Descriptor is Marked then Raise Interrupt", whatever else is pending.
TEST(Moderator, openmx__marked_frames_raise_when_their_dma_completes) {
  Moderator m(Strategy::openmx, kTimeout, kStep);
  for (int i = 0; i < 4; i++) m.on_arrival();
  EXPECT_FALSE(m.on_dma_done(false));
  EXPECT_TRUE(m.on_dma_done(true));
  EXPECT_TRUE(m.on_dma_done(true));
  EXPECT_FALSE(m.on_dma_done(false));
}

// Algorithm 2: nothing pending and the descriptor marked.
TEST(Moderator, stream__a_lone_marked_frame_raises) {
  Moderator m(Strategy::stream, kTimeout, kStep);
  m.on_arrival();
  EXPECT_TRUE(m.on_dma_done(true));
  m.on_arrival();
  EXPECT_FALSE(m.on_dma_done(false));
}

// "else if Descriptor is Marked then Set DeferredInterrupt"; the last of the stream raises, marked or not,
// and clears it.
TEST(Moderator, stream__defers_while_dma_is_pending) {
  Moderator m(Strategy::stream, kTimeout, kStep);
  for (int i = 0; i < 3; i++) m.on_arrival();
  EXPECT_FALSE(m.on_dma_done(true));
  EXPECT_TRUE(m.deferred());
  m.on_arrival();
  EXPECT_FALSE(m.on_dma_done(false));
  EXPECT_FALSE(m.on_dma_done(true));
  EXPECT_TRUE(m.on_dma_done(false));
  EXPECT_FALSE(m.deferred());
  m.on_arrival();
  EXPECT_FALSE(m.on_dma_done(false)) << "the deferred interrupt was raised already";
}

TEST(Moderator, stream__unmarked_frames_alone_defer_nothing) {
  Moderator m(Strategy::stream, kTimeout, kStep);
  m.on_arrival();
  m.on_arrival();
  EXPECT_FALSE(m.on_dma_done(false));
  EXPECT_FALSE(m.deferred());
  EXPECT_FALSE(m.on_dma_done(false));
}

// "if Interrupt coalescing timeout expires then Raise Interrupt, Clear DeferredInterrupt".
TEST(Moderator, stream__the_timeout_clears_what_was_deferred) {
  Moderator m(Strategy::stream, kTimeout, kStep);
  m.on_arrival();
  m.on_arrival();
  EXPECT_FALSE(m.on_dma_done(true));
  m.on_timeout();
  EXPECT_FALSE(m.deferred());
  EXPECT_FALSE(m.on_dma_done(false));
}

// Marks of messages whose handler needed no early interrupt.
void marks(AdaptiveDelay& delay, int count) {
  for (int i = 0; i < count; i++) {
    EXPECT_TRUE(delay.on_frame(true));
    delay.on_handled(true);
  }
}

TEST(AdaptiveDelayTest, marks__halve_the_delay_as_attempts) {
  AdaptiveDelay delay(kTimeout, kStep);
  marks(delay, 7);
  EXPECT_EQ(delay.ns(), kTimeout);
  marks(delay, 1);
  EXPECT_EQ(delay.ns(), kTimeout / 2);
  marks(delay, 8 * 3);
  EXPECT_EQ(delay.ns(), 0) << "less than a step";
  EXPECT_TRUE(delay.on_frame(false)) << "without a delay every frame raises";
}

TEST(AdaptiveDelayTest, early__right_when_the_handler_reached_the_mark) {
  AdaptiveDelay delay(kTimeout, kStep);
  delay.on_timeout(1);
  EXPECT_TRUE(delay.on_frame(true));  // in memory before the handler was done
  delay.on_handled(true);
  marks(delay, 7);
  EXPECT_EQ(delay.ns(), kTimeout / 2);
}

TEST(AdaptiveDelayTest, early__too_early_doubles_the_delay_and_puts_off_the_next_attempt) {
  AdaptiveDelay delay(kTimeout, kStep);
  delay.on_timeout(1);
  delay.on_handled(false);
  EXPECT_TRUE(delay.on_frame(true));
  delay.on_handled(true);
  EXPECT_EQ(delay.ns(), 2 * kTimeout);
  marks(delay, 15);
  EXPECT_EQ(delay.ns(), 2 * kTimeout);
  marks(delay, 1);
  EXPECT_EQ(delay.ns(), kTimeout);
  marks(delay, 16);  // an attempt after an attempt that failed is not sooner
  EXPECT_EQ(delay.ns(), kTimeout / 2);
  marks(delay, 8);
  EXPECT_EQ(delay.ns(), kTimeout / 4);
}

TEST(AdaptiveDelayTest, early__the_delay_has_a_limit_and_returns_from_zero) {
  AdaptiveDelay delay(kTimeout, kStep);
  marks(delay, 8 * 4);
  ASSERT_EQ(delay.ns(), 0);
  double longest = 0;
  for (int i = 0; i < 20; i++) {
    if (!delay.on_frame(false)) delay.on_timeout(1);
    delay.on_handled(false);
    delay.on_frame(true);
    delay.on_handled(true);
    if (i == 0) {
      EXPECT_EQ(delay.ns(), kStep);
    }
    longest = std::max(longest, delay.ns());
  }
  EXPECT_EQ(longest, 500'000);
}

// Peers that set no marks.
TEST(AdaptiveDelayTest, unmarked__lone_frames_wait_shortest_and_many_longest) {
  AdaptiveDelay delay(kTimeout, kStep);
  const auto timeouts = [&delay](int count, std::uint32_t waiting) {
    for (int i = 0; i < count; i++) {
      EXPECT_FALSE(delay.on_frame(false));
      delay.on_timeout(waiting);
      delay.on_handled(false);
    }
  };
  timeouts(32, 1);
  EXPECT_EQ(delay.ns(), kTimeout) << "a mark might still come";
  timeouts(3, 1);
  EXPECT_EQ(delay.ns(), kTimeout / 8);
  timeouts(10, 8);
  EXPECT_EQ(delay.ns(), 500'000);
}

TEST(Moderator, adaptive__marked_frames_raise_and_others_wait_for_the_delay) {
  Moderator m(Strategy::adaptive, kTimeout, kStep);
  EXPECT_EQ(m.timeout(), kTimeout);
  m.on_arrival();
  EXPECT_FALSE(m.on_dma_done(false));
  m.on_arrival();
  EXPECT_TRUE(m.on_dma_done(true));
}

// A NIC without a host: frames at given times, and the times of its interrupts.
class NicTest : public testing::Test {
 protected:
  Nic make(Strategy strategy, std::uint32_t queues = 1) {
    return Nic(scheduler, parameters, {strategy, queues}, [this](std::uint32_t queue, double ago_ns) {
      interrupts.push_back(scheduler.now());
      which.push_back(queue);
      ago.push_back(ago_ns);
    });
  }
  void run() {
    while (scheduler.step()) {
    }
  }
  Scheduler scheduler;
  Parameters parameters;
  std::vector<TimeNs> interrupts;
  std::vector<std::uint32_t> which;
  std::vector<double> ago;
};

TEST_F(NicTest, openmx__the_interrupt_comes_with_the_end_of_the_dma) {
  Nic nic = make(Strategy::openmx);
  const TimeNs start = scheduler.now();
  ASSERT_TRUE(nic.arrived(1, 1600, 0, true));
  run();
  ASSERT_EQ(interrupts.size(), 1U);
  EXPECT_EQ(interrupts[0] - start,
            static_cast<TimeNs>(1600 * 1e9 / parameters.dma_rate + parameters.dma_latency_ns));
}

TEST_F(NicTest, openmx__what_is_not_marked_waits_for_the_timeout) {
  Nic nic = make(Strategy::openmx);
  const TimeNs start = scheduler.now();
  ASSERT_TRUE(nic.arrived(1, 64, 0, false));
  run();
  ASSERT_EQ(interrupts.size(), 1U);
  EXPECT_GE(interrupts[0] - start, static_cast<TimeNs>(parameters.timeout_ns + parameters.dma_latency_ns));
}

TEST_F(NicTest, stream__one_interrupt_for_a_train_and_one_for_who_comes_late) {
  Nic nic = make(Strategy::stream);
  for (std::uint32_t i = 0; i < 4; i++) ASSERT_TRUE(nic.arrived(i, 64, 0, true));
  scheduler.after(parameters.dma_latency_ns * 2, [&] {
    std::uint32_t frame = 0;
    for (std::uint32_t i = 0; i < 4; i++) {
      ASSERT_TRUE(nic.take(0, frame));
      EXPECT_EQ(frame, i) << "in order";
    }
    EXPECT_FALSE(nic.take(0, frame));
    nic.poll_done(0);
    ASSERT_TRUE(nic.arrived(4, 64, 0, true));
  });
  run();
  EXPECT_EQ(interrupts.size(), 2U);
}

TEST_F(NicTest, poll__frames_that_are_left_raise_again) {
  Nic nic = make(Strategy::off);
  ASSERT_TRUE(nic.arrived(1, 64, 0, false));
  ASSERT_TRUE(nic.arrived(2, 64, 0, false));
  run();
  ASSERT_EQ(interrupts.size(), 1U) << "the host was told and has not come yet";
  std::uint32_t frame = 0;
  ASSERT_TRUE(nic.take(0, frame));
  nic.poll_done(0);
  EXPECT_EQ(interrupts.size(), 2U);
  ASSERT_TRUE(nic.take(0, frame));
  nic.poll_done(0);
  EXPECT_EQ(interrupts.size(), 2U);
}

TEST_F(NicTest, poll__the_next_interrupt_is_on_its_way_while_the_handler_works) {
  Nic nic = make(Strategy::off);
  ASSERT_TRUE(nic.arrived(1, 64, 0, false));
  std::uint32_t frame = 0;
  run();
  ASSERT_TRUE(nic.take(0, frame));
  ASSERT_TRUE(nic.arrived(2, 64, 0, false));
  run();
  const TimeNs raised = scheduler.now();
  scheduler.after(700, [&] { nic.poll_done(0); });
  run();
  ASSERT_EQ(ago.size(), 2U);
  EXPECT_EQ(ago[0], 0);
  EXPECT_EQ(ago[1], static_cast<double>(scheduler.now() - raised));
}

TEST_F(NicTest, queues__by_endpoint) {
  Nic nic = make(Strategy::off, 8);
  ASSERT_TRUE(nic.arrived(1, 64, 3, false));
  ASSERT_TRUE(nic.arrived(2, 64, 11, false));
  ASSERT_TRUE(nic.arrived(3, 64, 4, false));
  ASSERT_TRUE(nic.arrived(4, 64, -1, false));
  run();
  EXPECT_EQ(which, (std::vector<std::uint32_t>{3, 4, 0}));
}

TEST_F(NicTest, descriptors__a_frame_that_finds_none_is_lost) {
  parameters.ring_frames = 2;
  parameters.flow_control = 0;
  Nic nic = make(Strategy::timeout);
  EXPECT_TRUE(nic.arrived(1, 64, 0, false));
  EXPECT_TRUE(nic.arrived(2, 64, 0, false));
  EXPECT_FALSE(nic.arrived(3, 64, 0, false));
  run();
  std::uint32_t frame = 0;
  ASSERT_TRUE(nic.take(0, frame));
  EXPECT_TRUE(nic.arrived(4, 64, 0, false));
  EXPECT_EQ(nic.counters().dropped, 1U);
}

TEST_F(NicTest, descriptors__with_flow_control_it_waits_in_order) {
  parameters.ring_frames = 2;
  Nic nic = make(Strategy::off);
  for (std::uint32_t i = 0; i < 5; i++) EXPECT_TRUE(nic.arrived(i, 64, 0, false));
  std::uint32_t next = 0, frame = 0;
  while (next < 5) {
    run();
    ASSERT_TRUE(nic.take(0, frame)) << next;
    EXPECT_EQ(frame, next++);
    nic.poll_done(0);
  }
  EXPECT_EQ(nic.counters().dropped, 0U);
}

}  // namespace
}  // namespace omx::simulation::nic
