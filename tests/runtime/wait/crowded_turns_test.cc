// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/crowded_turns.h"

#include <gtest/gtest.h>

namespace omx::runtime {
namespace {

// An application that takes turns, as the progress thread sees it on a busy host.
class crowded_turns : public testing::Test {
 protected:
  static constexpr TimeNs kMs = 1'000'000;

  crowded_turns() { turns_.restart(now_, count_); }
  // Takes one turn before each look, and this long before it. Returns the absence after the last one.
  TimeNs looks(TimeNs for_time, TimeNs since_turn) {
    TimeNs away = 0;
    for (const TimeNs end = now_ + for_time; now_ < end;) {
      away = turns_.away(now_, now_ - since_turn);
      now_ += away;
      EXPECT_FALSE(turns_.none(++count_));
      turns_.found(count_);
    }
    return away;
  }

  CrowdedTurns turns_;
  TimeNs now_ = 7'000 * kMs;
  std::uint64_t count_ = 12345;
};

TEST_F(crowded_turns, at_first__four_milliseconds_after_the_last_turn) {
  EXPECT_EQ(turns_.away(now_, now_), 4 * kMs);
  EXPECT_EQ(turns_.away(now_, now_ - kMs), 3 * kMs);
}

TEST_F(crowded_turns, last_turn_long_ago__not_at_once) {
  EXPECT_EQ(turns_.away(now_, now_ - 3500 * 1000), kMs);
  EXPECT_EQ(turns_.away(now_, now_ - 4 * kMs), kMs);
  EXPECT_EQ(turns_.away(now_, 0), kMs);
}

TEST_F(crowded_turns, turns_for_long__a_small_part_of_that_time) {
  const TimeNs began = now_;
  const TimeNs away = looks(500 * kMs, 0);
  EXPECT_GT(away, 7 * kMs);
  EXPECT_LE(away, (now_ - began) / CrowdedTurns::kPart);
  EXPECT_EQ(looks(1000 * kMs, 0), 16 * kMs);
  EXPECT_EQ(looks(16 * kMs, 10 * kMs), 6 * kMs);
}

TEST_F(crowded_turns, a_look_without_turns__begins_again) {
  looks(1500 * kMs, 0);
  EXPECT_TRUE(turns_.none(count_));
  turns_.restart(now_, count_);
  EXPECT_EQ(turns_.away(now_, now_), 4 * kMs);
}

}  // namespace
}  // namespace omx::runtime
