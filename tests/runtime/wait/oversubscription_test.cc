// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/oversubscription.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace omx::runtime {
namespace {

TEST(oversubscription, loadavg__the_fourth_column) {
  EXPECT_EQ(runnable_parse("0.20 0.18 0.12 1/80 11206\n"), 1U);
  EXPECT_EQ(runnable_parse("12.00 8.18 0.12 123/4567 11206\n"), 123U);
  for (const char* text :
       {"", "0.20", "0.20 0.18 0.12 ", "0.20 0.18 0.12 x/80", "0.20 0.18 0.12 7", "a b c d"})
    EXPECT_FALSE(runnable_parse(text)) << text;
}

// If more threads spin than there are processors, some must stop.
TEST(oversubscription, spinners__no_more_than_processors) {
  const unsigned count = 2 * std::max(1U, std::thread::hardware_concurrency());
  std::vector<OversubscriptionDetector> spins(count);
  unsigned allowed = 0;
  for (OversubscriptionDetector& spin : spins) allowed += spin.allowed(clock_now());
  EXPECT_GT(allowed, 0U);
  EXPECT_LT(allowed, count);
  for (OversubscriptionDetector& spin : spins) spin.stop();
  EXPECT_TRUE(spins[0].allowed(clock_now()));
}

// If threads were bound, their own affinity says nothing about the process.
TEST(oversubscription, spinners__as_many_as_were_told) {
  OversubscriptionDetector::processors_are(2);
  OversubscriptionDetector first, second, third;
  first.allowed(clock_now());
  second.allowed(clock_now());
  EXPECT_FALSE(third.allowed(clock_now()));
  OversubscriptionDetector::processors_are(0);
}

TEST(oversubscription, finding__lasts_for_a_while) {
  Recently calm{100'000};
  EXPECT_FALSE(calm.lasts(1'000'000));
  calm.seen(1'000'000);
  EXPECT_TRUE(calm.lasts(1'050'000));
  EXPECT_FALSE(calm.lasts(1'100'000));
}

// An MPI that gives its processor away after each poll leaves no wait that could find this out.
TEST(oversubscription, look__finds_more_threads_than_processors) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> busy(2 * std::max(1U, std::thread::hardware_concurrency()) + 2);
  for (std::thread& thread : busy)
    thread = std::thread([&] {
      while (!ends) ::sched_yield();
    });
  const TimeNs limit = clock_now() + 60'000'000'000;
  bool found = false;
  unsigned looks = 0;
  for (TimeNs now = 0; !found && (now = clock_now()) < limit;) {
    found = OversubscriptionDetector::look(now, looks);
    EXPECT_TRUE(!found || OversubscriptionDetector::crowded_lately(now));
  }
  ends = true;
  for (std::thread& thread : busy) thread.join();
  EXPECT_TRUE(found);
  EXPECT_FALSE(OversubscriptionDetector::crowded_lately(clock_now() + 200'000'000)) << "it lasts for a while";
}

// A thread that was refused looks less often before it yields, also in its next wait.
TEST(oversubscription, courtesy__is_remembered) {
  OversubscriptionDetector::processors_are(1);
  OversubscriptionDetector other;
  other.allowed(clock_now());
  PollingFairness fairness;
  const auto looks_to_yield = [&] {
    int looks = 1;
    while (!fairness.yield_due(false)) looks++;
    return looks;
  };
  const int first = looks_to_yield();
  fairness.yield_due(true);
  EXPECT_LT(looks_to_yield(), first);
  OversubscriptionDetector::processors_are(0);
}

// A thread that finds something now and then does not count as waiting.
TEST(oversubscription, courtesy__what_is_found_ends_the_wait) {
  PollingFairness fairness;
  for (int round = 0; round < 20; round++) {
    for (int look = 0; look < 50; look++) EXPECT_FALSE(fairness.yield_due(false));
    EXPECT_FALSE(fairness.yield_due(true));
  }
  EXPECT_EQ(OversubscriptionDetector::spinning(), 0);
  for (int look = 0; look < 100; look++) fairness.yield_due(false);
  EXPECT_EQ(OversubscriptionDetector::spinning(), 1);
  fairness.yield_due(true);
  EXPECT_EQ(OversubscriptionDetector::spinning(), 0);
}

}  // namespace
}  // namespace omx::runtime
