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
  // Looks after an absence in which there were this many turns, the last one `age` ago. Returns the next
  // absence.
  TimeNs look(TimeNs absence, std::uint64_t turns, TimeNs age = 0) {
    now_ += absence;
    count_ += turns;
    return away_ = turns_.look(now_, count_, now_ - age);
  }
  // Looks for a time at an application that takes so many turns in a millisecond.
  TimeNs looks(TimeNs for_time, std::uint64_t a_millisecond) {
    for (const TimeNs end = now_ + for_time; now_ < end;) look(away_, a_millisecond * away_ / kMs);
    return away_;
  }

  CrowdedTurns turns_;
  TimeNs now_ = 7'000 * kMs, away_ = kMs;
  std::uint64_t count_ = 12345;
};

TEST_F(crowded_turns, at_first__four_milliseconds_after_the_last_turn) {
  EXPECT_EQ(look(kMs, 10), 4 * kMs);
  EXPECT_EQ(look(4 * kMs, 10, kMs), 3 * kMs);
}

TEST_F(crowded_turns, last_turn_long_ago__not_at_once) {
  EXPECT_EQ(look(4 * kMs, 10, 3500'000), kMs);
  EXPECT_EQ(look(kMs, 1, 4 * kMs), kMs);
}

TEST_F(crowded_turns, turns_for_long__a_small_part_of_that_time) {
  const TimeNs began = now_;
  const TimeNs away = looks(500 * kMs, 20);
  EXPECT_GT(away, 7 * kMs);
  EXPECT_LE(away, (now_ - began) / SteadyCalls::kPart);
  EXPECT_EQ(looks(1000 * kMs, 20), 16 * kMs);
  EXPECT_EQ(look(16 * kMs, 100, 10 * kMs), 6 * kMs) << "16 ms after the last turn";
  EXPECT_EQ(turns_.most(), 16 * kMs);
}

TEST_F(crowded_turns, no_turn__found_and_begins_again) {
  looks(1500 * kMs, 20);
  EXPECT_TRUE(turns_.none(count_));
  EXPECT_FALSE(turns_.none(count_ + 1));
  EXPECT_EQ(look(16 * kMs, 0, 16 * kMs), 4 * kMs);
}

// A test of a request in ten milliseconds of computation is no polling.
TEST_F(crowded_turns, few_turns__begin_again) {
  looks(1500 * kMs, 20);
  EXPECT_EQ(look(16 * kMs, 2, 6 * kMs), kMs);
  EXPECT_EQ(turns_.most(), 4 * kMs);
  looks(1500 * kMs, 1000);
  EXPECT_EQ(look(16 * kMs, 4), 16 * kMs) << "a thread that shares its processor takes few";
}

TEST_F(crowded_turns, a_sleep__is_no_polling) {
  looks(100 * kMs, 1);
  now_ += 3000 * kMs;
  turns_.rested(now_);
  EXPECT_FALSE(turns_.none(count_ + 1)) << "the thread that was woken took it";
  EXPECT_EQ(look(0, 1), 4 * kMs);
  EXPECT_EQ(look(4 * kMs, 80), 4 * kMs);
}

}  // namespace
}  // namespace omx::runtime
