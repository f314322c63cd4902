// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/clock.h"

#include <gtest/gtest.h>

namespace omx::runtime {
namespace {

constexpr TimeNs kPause = 2 * protocol::kMillisecond;

void pass(TimeNs time) {
  for (const TimeNs end = clock_now() + time; clock_now() < end;) cpu_relax();
}

TEST(tick, tick_now__counts_about_as_fast_as_assumed) {
  if (!kTicks) GTEST_SKIP() << "no tick counter is known for this processor";
  const std::uint64_t before = tick_now();
  pass(kPause);
  // On x86 the rate is assumed, and five times less is the slowest that matters.
  EXPECT_GE(tick_now() - before, ticks_of_us(kPause / 1000) / 5);
  EXPECT_GT(ticks_of_us(5), 0U);
}

TEST(RecentClock, now__is_renewed_after_some_microseconds) {
  RecentClock clock;
  for (int i = 0; i < 5; i++) {
    const TimeNs then = clock_now();
    pass(kPause);
    EXPECT_GT(clock.now(), then);
  }
}

TEST(RecentClock, now__never_goes_back_and_is_never_ahead) {
  RecentClock clock;
  TimeNs last = 0;
  for (int i = 0; i < 100'000; i++) {
    const TimeNs now = clock.now();
    ASSERT_GE(now, last);
    ASSERT_LE(now, clock_now());
    last = now;
  }
}

TEST(RecentClock, read__is_exact) {
  RecentClock clock;
  for (int i = 0; i < 1000; i++) {
    const TimeNs before = clock_now();
    ASSERT_GE(clock.read(), before);
  }
}

TEST(RecentClock, now__serves_for_a_while) {
  if (!kTicks) GTEST_SKIP() << "without a tick counter each reading is a new one";
  RecentClock clock;
  int same = 0;
  TimeNs last = clock.now();
  for (int i = 0; i < 100'000; i++) {
    const TimeNs now = clock.now();
    same += now == last;
    last = now;
  }
  EXPECT_GT(same, 0);
}

}  // namespace
}  // namespace omx::runtime
