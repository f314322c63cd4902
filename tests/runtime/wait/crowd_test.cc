// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/crowd.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace omx::runtime {
namespace {

TEST(crowd, loadavg__the_fourth_column) {
  EXPECT_EQ(runnable_parse("0.20 0.18 0.12 1/80 11206\n"), 1U);
  EXPECT_EQ(runnable_parse("12.00 8.18 0.12 123/4567 11206\n"), 123U);
  for (const char* text :
       {"", "0.20", "0.20 0.18 0.12 ", "0.20 0.18 0.12 x/80", "0.20 0.18 0.12 7", "a b c d"})
    EXPECT_FALSE(runnable_parse(text)) << text;
}

// Of more threads that spin than there are processors, some are told to stop.
TEST(crowd, spinners__no_more_than_processors) {
  const unsigned count = 2 * std::max(1U, std::thread::hardware_concurrency());
  std::vector<Spin> spins(count);
  unsigned allowed = 0;
  for (Spin& spin : spins) allowed += spin.allowed(clock_now());
  EXPECT_GT(allowed, 0U);
  EXPECT_LT(allowed, count);
  for (Spin& spin : spins) spin.stop();
  EXPECT_TRUE(spins[0].allowed(clock_now()));
}

// Where threads were bound, their own affinity says nothing of the process.
TEST(crowd, spinners__as_many_as_were_told) {
  Spin::processors_are(2);
  Spin first, second, third;
  first.allowed(clock_now());
  second.allowed(clock_now());
  EXPECT_FALSE(third.allowed(clock_now()));
  Spin::processors_are(0);
}

TEST(crowd, calm__lasts_for_a_while) {
  Calm calm;
  EXPECT_FALSE(calm.lasts(1'000'000));
  calm.seen(1'000'000);
  EXPECT_TRUE(calm.lasts(1'050'000));
  EXPECT_FALSE(calm.lasts(1'100'000));
}

// Who finds something now and then does not wait.
TEST(crowd, courtesy__what_is_found_ends_the_wait) {
  PollCourtesy courtesy;
  for (int round = 0; round < 20; round++) {
    for (int look = 0; look < 50; look++) EXPECT_FALSE(courtesy.yield_due(false));
    EXPECT_FALSE(courtesy.yield_due(true));
  }
  EXPECT_EQ(Spin::spinning(), 0);
  for (int look = 0; look < 100; look++) courtesy.yield_due(false);
  EXPECT_EQ(Spin::spinning(), 1);
  courtesy.yield_due(true);
  EXPECT_EQ(Spin::spinning(), 0);
}

}  // namespace
}  // namespace omx::runtime
