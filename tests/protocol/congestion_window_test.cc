// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/congestion_window.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace omx::protocol {
namespace {

constexpr TimeNs kEmpty = 80'000;
constexpr std::uint32_t kUnit = 9000, kStart = 96 * 1024;

// A path with a queue: data that wait there delay the answers. `others` is what other flows keep in it.
class CongestionWindowTest : public ::testing::Test {
 protected:
  static constexpr CongestionWindow::Path kPath{kEmpty, kUnit, 2 * kUnit, 2U << 20};
  static constexpr std::uint64_t kBytesPerMs = 125'000;

  TimeNs delay(std::uint64_t queued) const { return kEmpty + queued * kMillisecond / kBytesPerMs; }

  // Runs one window of requests with a queue that holds what the others and the window leave there.
  // A queue of the others that is so long loses some of ours now and then.
  void round(std::uint64_t others) {
    if (others > 0 && losses && ++rounds % 20 == 5) window.lost(kPath, asked, asked);
    constexpr std::uint64_t kInPath = kBytesPerMs * kEmpty / kMillisecond;
    const std::uint64_t end = answered + window.bytes();
    while (answered < end) {
      asked = std::max(asked, answered + window.bytes());
      const std::uint64_t ours = window.bytes() > kInPath ? window.bytes() - kInPath : 0;
      const TimeNs took = delay(others + ours);
      now += took * kUnit / window.bytes();
      answered += kUnit;
      window.answered(kPath, {now, took, answered, asked, answered});
      window.grow(kPath, kUnit, took > kEmpty * 3 / 2 + 10'000, quick);
    }
  }

  CongestionWindow window{kStart};
  std::uint64_t asked = 0, answered = 0;  // positions
  TimeNs now = kMillisecond;
  bool quick = false;
  bool losses = true;
  int rounds = 0;
};

TEST_F(CongestionWindowTest, alone__the_window_stays_near_what_the_path_holds) {
  window = CongestionWindow(1U << 20);
  window.lost(kPath, 1, 2);
  for (int i = 0; i < 200; i++) round(0);
  EXPECT_FALSE(window.contended());
  EXPECT_LE(window.bytes(), 6 * kUnit);
  EXPECT_GE(window.bytes(), kPath.floor);
}

TEST_F(CongestionWindowTest, contended__the_window_grows_although_the_queue_is_long) {
  for (int i = 0; i < 20; i++) round(150'000);
  EXPECT_TRUE(window.contended());
  const std::uint32_t before = window.bytes();
  for (int i = 0; i < 20; i++) round(150'000);
  EXPECT_GT(window.bytes(), before + 5 * kUnit);
  EXPECT_LT(window.bytes(), before + 30 * kUnit);
}

TEST_F(CongestionWindowTest, contended__ends_with_the_queue_of_the_others) {
  for (int i = 0; i < 30; i++) round(150'000);
  ASSERT_TRUE(window.contended());
  for (int i = 0; i < 200; i++) round(0);
  EXPECT_FALSE(window.contended());
  EXPECT_LE(window.bytes(), 6 * kUnit);
}

TEST_F(CongestionWindowTest, contended__the_test_takes_nothing_away_while_others_go_on) {
  for (int i = 0; i < 30; i++) round(150'000);
  losses = false;
  std::uint32_t before = window.bytes();
  for (int i = 0; i < 300; i++) {
    round(std::max(400'000U, 2 * before));
    if (window.testing()) continue;
    EXPECT_GE(window.bytes(), before);
    before = window.bytes();
  }
}

// All who fill the queue lose data at the same time, and send less soon afterwards.
TEST_F(CongestionWindowTest, lost__a_test_begins_when_others_have_reacted) {
  losses = false;
  for (int i = 0; i < 5; i++) round(150'000);
  ASSERT_FALSE(window.contended());
  window.lost(kPath, asked, asked);
  round(150'000);
  EXPECT_FALSE(window.testing());
  for (int i = 0; i < 3 && !window.testing(); i++) round(100'000);
  EXPECT_TRUE(window.testing());
  for (int i = 0; i < 4; i++) round(100'000);
  EXPECT_TRUE(window.contended());
}

TEST_F(CongestionWindowTest, contended__a_test_during_which_something_is_lost_tells_nothing) {
  for (int i = 0; i < 30; i++) round(150'000);
  ASSERT_TRUE(window.contended());
  losses = false;
  std::uint64_t before = 0;
  for (int i = 0; i < 100 && !window.testing(); i++) {
    before = asked;
    round(150'000);
  }
  ASSERT_TRUE(window.testing());
  window.lost(kPath, before, asked);
  ASSERT_TRUE(window.testing());
  for (int i = 0; i < 4 && window.testing(); i++) round(0);
  EXPECT_FALSE(window.testing());
  EXPECT_TRUE(window.contended());
}

// Too few frames for a test, and nothing of them is lost.
TEST_F(CongestionWindowTest, contended__begins_where_answers_are_slow_for_a_path_that_was_quick) {
  losses = false;
  window.lost(kPath, 1, 2);
  for (int i = 0; i < 20; i++) round(0);
  ASSERT_FALSE(window.contended());
  ASSERT_LE(window.bytes(), 6 * kUnit);
  for (int i = 0; i < 6; i++) round(200'000);
  EXPECT_TRUE(window.contended());
}

// A host that does not run makes all its answers late, and others in the same window.
TEST_F(CongestionWindowTest, alone__a_few_slow_answers_are_no_sign_of_others) {
  losses = false;
  window.lost(kPath, 1, 2);
  for (int i = 0; i < 60; i++) {
    round(i % 6 >= 4 ? 200'000 : 0);
    ASSERT_FALSE(window.contended()) << i;
  }
}

// Requests to several senders are not answered in their order, so positions say little of the rate.
TEST_F(CongestionWindowTest, alone__answers_in_another_order_are_no_sign_of_others) {
  CongestionWindow::Path path = kPath;
  path.floor = 8 * kUnit;
  window = CongestionWindow(path.floor);
  for (int i = 0; i < 1000; i++) {
    if (i % 160 == 40) window.lost(path, asked, asked);
    now += kUnit * kMillisecond / kBytesPerMs;
    answered += kUnit;
    asked = answered + window.bytes();
    const std::uint64_t early = i % 37 == 5 ? window.bytes() : 0;
    const TimeNs took = window.bytes() * kMillisecond / kBytesPerMs;
    window.answered(path, {now, took, answered + early, asked, answered});
    ASSERT_FALSE(window.contended()) << i;
  }
}

TEST_F(CongestionWindowTest, lost__all_losses_of_one_window_count_once) {
  window.lost(kPath, 10, 100'000);
  EXPECT_EQ(window.bytes(), kStart * 3 / 4);
  window.lost(kPath, 90'000, 120'000);
  EXPECT_EQ(window.bytes(), kStart * 3 / 4);
  EXPECT_FALSE(window.news(100'000));
  window.lost(kPath, 100'001, 150'000);
  EXPECT_EQ(window.bytes(), kStart * 3 / 4 - kStart * 3 / 16);
}

TEST_F(CongestionWindowTest, lost__the_window_keeps_its_floor_and_a_smaller_path_its_limit) {
  for (std::uint64_t i = 1; i < 100; i++) window.lost(kPath, i, i);
  EXPECT_EQ(window.bytes(), kPath.floor);
  window = CongestionWindow(64U << 20);
  window.lost(kPath, 1, 2);
  EXPECT_EQ(window.bytes(), kPath.most);
}

// Heavy losses had a lower floor, and are over.
TEST_F(CongestionWindowTest, lost__no_loss_and_no_mark_makes_the_window_larger) {
  window = CongestionWindow(kUnit / 8);
  window.lost(kPath, 1, 2);
  EXPECT_EQ(window.bytes(), kUnit / 8);
  window.marked(kPath, 3, 4);
  EXPECT_EQ(window.bytes(), kUnit / 8);
}

TEST_F(CongestionWindowTest, lost__ends_a_test_and_counts_from_the_window_before_it) {
  for (int i = 0; i < 30; i++) round(150'000);
  ASSERT_TRUE(window.contended());
  const std::uint32_t before = window.bytes();
  for (int i = 0; i < 100 && !window.testing(); i++) round(400'000);
  ASSERT_TRUE(window.testing());
  ASSERT_LT(window.bytes(), before + 100 * kUnit);
  const std::uint32_t half = window.bytes();
  window.lost(kPath, asked + 1, asked + 1);
  EXPECT_FALSE(window.testing());
  EXPECT_TRUE(window.contended());
  EXPECT_GT(window.bytes(), half);
}

TEST_F(CongestionWindowTest, quick__a_lone_sender_reaches_a_long_path_sooner) {
  window.lost(kPath, 1, 2);  // no longer doubling
  CongestionWindow slow = window;
  for (int i = 0; i < 400; i++) {
    window.grow(kPath, kUnit, false, true);
    slow.grow(kPath, kUnit, false, false);
  }
  EXPECT_GT(window.bytes(), slow.bytes());
  EXPECT_LE(window.bytes(), kPath.most);
}

}  // namespace
}  // namespace omx::protocol
