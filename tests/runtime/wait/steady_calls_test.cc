// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/steady_calls.h"

#include <gtest/gtest.h>

namespace omx::runtime {
namespace {

constexpr TimeNs kMs = 1'000'000;

// An application whose calls are judged as the progress thread judges them.
class steady_calls : public testing::Test {
 protected:
  steady_calls() { steady_.restart(now_, calls_); }
  // Makes this many calls in each millisecond. Returns the longest absence allowed afterwards.
  TimeNs calls(std::uint64_t a_millisecond, TimeNs for_time) {
    for (const TimeNs end = now_ + for_time; now_ < end;) {
      now_ += away_;
      calls_ += a_millisecond * away_ / kMs;
      away_ = steady_.away_most(now_, calls_);
    }
    return away_;
  }

  SteadyCalls steady_;
  TimeNs now_ = 7'000 * kMs, away_ = SteadyCalls::kAwayLeast;
  std::uint64_t calls_ = 12345;
};

TEST_F(steady_calls, at_first__no_longer_than_without) {
  EXPECT_EQ(calls(1000, 100 * kMs), SteadyCalls::kAwayLeast);
}

TEST_F(steady_calls, polled_for_long__a_small_part_of_it) {
  const TimeNs began = now_;
  const TimeNs away = calls(1000, 200 * kMs);
  EXPECT_EQ(away, (now_ - began) / SteadyCalls::kPart);
  EXPECT_GT(away, SteadyCalls::kAwayLeast);
  EXPECT_EQ(calls(900, 5000 * kMs), SteadyCalls::kAwayMost);
}

TEST_F(steady_calls, rarer_calls__begin_anew) {
  calls(1000, 5000 * kMs);
  EXPECT_EQ(calls(400, away_), SteadyCalls::kAwayLeast);
  // The application keeps this rate from now on.
  EXPECT_GT(calls(400, 200 * kMs), SteadyCalls::kAwayLeast);
}

TEST_F(steady_calls, none__begin_anew_each_time) {
  calls(1000, 5000 * kMs);
  EXPECT_EQ(calls(0, 400 * kMs), SteadyCalls::kAwayLeast);
}

TEST_F(steady_calls, a_break__begin_anew) {
  calls(1000, 5000 * kMs);
  steady_.restart(now_, calls_);
  EXPECT_EQ(calls(1000, away_), SteadyCalls::kAwayLeast);
}

TEST_F(steady_calls, silent__by_the_last_call_after_a_long_look_away) {
  calls(1000, 5000 * kMs);
  EXPECT_TRUE(steady_.silent(4 * kMs, now_, now_ - kMs));
  EXPECT_FALSE(steady_.silent(4 * kMs, now_, now_ - kMs / 10));
  EXPECT_FALSE(steady_.silent(4 * kMs, now_, now_ + kMs));
  EXPECT_FALSE(steady_.silent(SteadyCalls::kAwayLeast, now_, now_ - kMs)) << "their number tells";
  steady_.restart(now_, calls_);
  calls(10, 5000 * kMs);
  EXPECT_FALSE(steady_.silent(4 * kMs, now_, now_ - 3 * kMs))
      << "one in 0.1 ms, each sixteenth reads the clock";
  EXPECT_TRUE(steady_.silent(4 * kMs, now_, now_ - 4 * kMs));
}

TEST_F(steady_calls, looked_twice_at_once__nothing_breaks) {
  calls(1000, 5000 * kMs);
  EXPECT_EQ(steady_.away_most(now_, calls_), SteadyCalls::kAwayLeast);
  EXPECT_EQ(calls(1000, away_), SteadyCalls::kAwayMost);
}

}  // namespace
}  // namespace omx::runtime
