// SPDX-License-Identifier: BSD-3-Clause
// Tests of the choice between sends with and without a copy.
#include "link/packet/zerocopy_policy.h"

#include <gtest/gtest.h>

namespace omx::link {
namespace {

using Policy = ZerocopyPolicy;
constexpr std::size_t kBytes = 60'000;

class zerocopy_policy : public testing::Test {
 protected:
  // Sends a batch that takes so long with and without a copy. Returns whether it left without one.
  bool send(TimeNs with, TimeNs without) {
    const bool wanted = policy_.wants();
    policy_.sent(wanted, kBytes, policy_.measures() ? (wanted ? without : with) : 0);
    return wanted;
  }
  // Sends batches, and returns how many left without a copy.
  std::uint32_t send(std::uint32_t batches, TimeNs with, TimeNs without) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < batches; i++) count += send(with, without);
    return count;
  }
  void trial_await() {
    for (std::uint32_t i = 0; i < 2 * Policy::kRestMost && !policy_.measures(); i++) send(100, 100);
    ASSERT_TRUE(policy_.measures());
  }
  // Lets a trial come and fail because the kernel copies. Returns how many batches left before.
  std::uint32_t copied_trial() {
    std::uint32_t before = 0;
    while (!policy_.measures() && send(100, 100) == false) before++;
    for (std::uint32_t i = 0; i < Policy::kFailuresMost; i++) policy_.reported(1, true);
    return before;
  }

  Policy policy_{ZerocopyMode::automatic};
};

TEST_F(zerocopy_policy, fixed__never_and_always_measure_nothing) {
  for (const ZerocopyMode mode : {ZerocopyMode::never, ZerocopyMode::always}) {
    policy_ = Policy(mode);
    for (std::uint32_t i = 0; i < 2 * Policy::kRestLeast; i++) {
      EXPECT_FALSE(policy_.measures());
      EXPECT_EQ(send(100, 1), mode == ZerocopyMode::always);
      policy_.reported(1, true);
      policy_.refused();
    }
  }
}

TEST_F(zerocopy_policy, automatic__the_first_batches_are_copied) {
  EXPECT_EQ(send(Policy::kFirst, 100, 1), 0U);
  EXPECT_TRUE(policy_.measures());
  EXPECT_TRUE(policy_.wants());
}

TEST_F(zerocopy_policy, trial__alternates) {
  trial_await();
  for (std::uint32_t i = 0; i < 2 * Policy::kSamples; i++) {
    ASSERT_TRUE(policy_.measures());
    EXPECT_EQ(send(100, 100), i % 2 == 0);
  }
  EXPECT_FALSE(policy_.measures());
}

TEST_F(zerocopy_policy, trial__is_won_by_less_time_for_each_byte) {
  trial_await();
  EXPECT_EQ(send(2 * Policy::kSamples, 10'000, 8'900), Policy::kSamples);
  EXPECT_EQ(send(100, 10'000, 8'900), 100U);
  EXPECT_FALSE(policy_.measures());
}

TEST_F(zerocopy_policy, trial__a_small_gain_is_not_enough) {
  trial_await();
  send(2 * Policy::kSamples, 10'000, 9'200);
  EXPECT_EQ(send(Policy::kRestLeast - 1, 10'000, 9'200), 0U);
  EXPECT_FALSE(policy_.measures());
  send(10'000, 9'200);
  EXPECT_TRUE(policy_.measures());
}

// The batches of one kind may be longer.
TEST_F(zerocopy_policy, trial__judges_by_bytes) {
  trial_await();
  for (std::uint32_t i = 0; i < Policy::kSamples; i++) {
    policy_.sent(true, 2 * kBytes, 12'000);
    policy_.sent(false, kBytes, 10'000);
  }
  EXPECT_TRUE(policy_.wants());
}

TEST_F(zerocopy_policy, trial__outliers_decide_nothing) {
  trial_await();
  for (std::uint32_t i = 0; i < 2 * Policy::kSamples; i++) send(10'000, i % 16 < 6 ? 1'000'000 : 5'000);
  EXPECT_FALSE(policy_.measures());
  EXPECT_TRUE(policy_.wants());
}

// A batch that found all pages in use was copied, and the trial goes on.
TEST_F(zerocopy_policy, trial__more_batches_of_one_kind_are_no_harm) {
  trial_await();
  for (std::uint32_t i = 0; i < 3 * Policy::kSamples; i++) policy_.sent(false, kBytes, 10'000);
  EXPECT_TRUE(policy_.wants());
  for (std::uint32_t i = 0; i < Policy::kSamples; i++) policy_.sent(true, kBytes, 1'000);
  EXPECT_TRUE(policy_.wants());
  EXPECT_FALSE(policy_.measures());
}

TEST_F(zerocopy_policy, use__is_tried_again_after_a_while) {
  trial_await();
  send(2 * Policy::kSamples, 100, 10);
  EXPECT_EQ(send(Policy::kUse, 100, 10), Policy::kUse);
  EXPECT_TRUE(policy_.measures());
  send(2 * Policy::kSamples, 100, 200);
  EXPECT_FALSE(policy_.wants());
}

TEST_F(zerocopy_policy, copied__ends_a_trial) {
  trial_await();
  send(100, 1);
  policy_.reported(Policy::kFailuresMost - 1, true);
  EXPECT_TRUE(policy_.measures());
  policy_.reported(1, true);
  EXPECT_FALSE(policy_.measures());
  EXPECT_EQ(send(Policy::kRestLeast - 1, 100, 1), 0U);
}

TEST_F(zerocopy_policy, copied__a_few_among_many_are_no_harm) {
  trial_await();
  send(2 * Policy::kSamples, 100, 10);
  for (std::uint32_t i = 0; i < 100; i++) {
    policy_.reported(1, true);
    policy_.reported(2, false);
  }
  EXPECT_TRUE(policy_.wants());
  policy_.reported(Policy::kFailuresMost, true);
  EXPECT_FALSE(policy_.wants());
}

// A virtual cable costs four batches of each trial, and trials become rare.
TEST_F(zerocopy_policy, copied__trials_become_rare) {
  EXPECT_EQ(copied_trial(), Policy::kFirst);
  std::uint32_t rest = Policy::kRestLeast;
  for (; rest < Policy::kRestMost; rest *= 2) EXPECT_EQ(copied_trial(), rest);
  EXPECT_EQ(copied_trial(), Policy::kRestMost);
  EXPECT_EQ(copied_trial(), Policy::kRestMost);
}

TEST_F(zerocopy_policy, copied__a_won_trial_shortens_the_next_rest) {
  for (int i = 0; i < 5; i++) copied_trial();
  trial_await();
  send(2 * Policy::kSamples, 100, 10);
  policy_.reported(Policy::kFailuresMost, true);
  EXPECT_EQ(copied_trial(), Policy::kRestLeast);
}

TEST_F(zerocopy_policy, reports__of_a_former_trial_are_no_news) {
  EXPECT_EQ(copied_trial(), Policy::kFirst);
  policy_.reported(100, true);
  EXPECT_EQ(copied_trial(), Policy::kRestLeast);
}

TEST_F(zerocopy_policy, refused__counts_as_copied) {
  trial_await();
  for (std::uint32_t i = 0; i < Policy::kFailuresMost; i++) {
    EXPECT_TRUE(policy_.measures());
    policy_.refused();
  }
  EXPECT_FALSE(policy_.measures());
}

}  // namespace
}  // namespace omx::link
