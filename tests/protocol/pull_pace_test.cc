// SPDX-License-Identifier: BSD-3-Clause
// Measures how long large messages are under way.
#include "protocol/state/pull_pace.h"

#include <gtest/gtest.h>

namespace omx::protocol {
namespace {

constexpr TimeNs kStart = 1000 * kMillisecond;

TEST(pull_pace, several_at_once__counted_once) {
  PullPace pace;
  pace.enter(kStart);
  const TimeNs before = pace.busy();
  pace.enter(kStart + 10);
  pace.arrived(kStart + 400, 9000);
  pace.leave(kStart + 500);
  pace.arrived(kStart + 700, 1000);
  pace.leave(kStart + 800);
  EXPECT_EQ(pace.busy() - before, 800U);
  EXPECT_EQ(pace.bytes(), 10000U);
}

// Gaps that differ by little must not change the measured time by much.
TEST(pull_pace, a_gap_between_two__counts_a_little) {
  const auto busy_with = [](TimeNs gap) {
    PullPace pace;
    pace.enter(kStart);
    const TimeNs before = pace.busy();
    pace.leave(kStart + 1000);
    pace.enter(kStart + 1000 + gap);
    pace.leave(kStart + 1000 + gap + 1000);
    return pace.busy() - before;
  };
  EXPECT_EQ(busy_with(0), 2000U);
  EXPECT_EQ(busy_with(5000), 7000U);
  EXPECT_EQ(busy_with(kMillisecond), busy_with(kMillisecond / 100));
  EXPECT_EQ(busy_with(kMillisecond / 100), 2000 + kMillisecond / 100);
}

TEST(pull_pace, a_silent_sender__counts_once) {
  PullPace pace;
  pace.enter(kStart);
  const TimeNs before = pace.busy();
  pace.arrived(kStart + 5000 * kMillisecond, 9000);
  EXPECT_EQ(pace.busy() - before, kMillisecond);
}

// At the very start of the clock no more time counts than has passed, either.
TEST(pull_pace, at_time_zero__no_more_than_passed) {
  PullPace pace;
  pace.enter(0);
  pace.leave(70);
  EXPECT_EQ(pace.busy(), 70U);
}

}  // namespace
}  // namespace omx::protocol
