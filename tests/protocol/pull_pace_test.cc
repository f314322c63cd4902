// SPDX-License-Identifier: BSD-3-Clause
// How long large messages are on their way.
#include "protocol/pull_pace.h"

#include <gtest/gtest.h>

namespace omx::protocol {
namespace {

constexpr TimeNs kStart = 1000 * kMillisecond;

TEST(pull_pace, several_at_once__counted_once) {
  PullPace pace;
  pace.enter(kStart);
  pace.enter(kStart + 10);
  pace.leave(kStart + 500);
  pace.leave(kStart + 800);
  const TimeNs first = pace.busy(kStart + 5000);
  pace.enter(kStart + 800);
  EXPECT_EQ(pace.busy(kStart + 900) - first, 100U);
  EXPECT_EQ(pace.busy(kStart + 900), pace.busy(kStart + 900));
}

// Two that differ in it by little must not differ in their time by much.
TEST(pull_pace, a_gap__counts_up_to_a_moment) {
  const auto busy_with = [](TimeNs gap) {
    PullPace pace;
    pace.enter(kStart);
    pace.leave(kStart + 1000);
    const TimeNs before = pace.busy(kStart + 1000);
    pace.enter(kStart + 1000 + gap);
    pace.leave(kStart + 1000 + gap + 1000);
    return pace.busy(kStart + kStart) - before;
  };
  EXPECT_EQ(busy_with(0), 1000U);
  EXPECT_EQ(busy_with(5000), 6000U);
  EXPECT_EQ(busy_with(kMillisecond), busy_with(kMillisecond / 10));
  EXPECT_EQ(busy_with(kMillisecond / 10), 1000 + kMillisecond / 10);
}

// At the very start of the clock, too.
TEST(pull_pace, at_time_zero__no_more_than_passed) {
  PullPace pace;
  pace.enter(0);
  EXPECT_EQ(pace.busy(50), 50U);
  pace.leave(70);
  EXPECT_EQ(pace.busy(70), 70U);
}

}  // namespace
}  // namespace omx::protocol
