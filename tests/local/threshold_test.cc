// SPDX-License-Identifier: BSD-3-Clause
#include "local/threshold.h"

#include <gtest/gtest.h>

namespace omx::local {
namespace {

TEST(threshold, falls_with_the_price_of_copies_and_rises_with_that_of_calls) {
  const std::uint32_t base = threshold_from({32768, 2000, 4000, 500});
  EXPECT_EQ(base, 16384U);  // 1500 ns / ((6000 - 3500) ns / 32 KiB) = 19660
  EXPECT_LT(threshold_from({32768, 3000, 4000, 500}), base);
  EXPECT_GT(threshold_from({32768, 2000, 5000, 500}), base);
  EXPECT_GT(threshold_from({32768, 2000, 5000, 1500}), base);
}

TEST(threshold, has_bounds) {
  EXPECT_EQ(threshold_from({32768, 1000, 4000, 500}), kThresholdMost) << "eager is always faster";
  EXPECT_EQ(threshold_from({32768, 1000, 3499, 500}), kThresholdMost);
  EXPECT_EQ(threshold_from({32768, 1e9, 1000, 500}), kThresholdLeast);
  EXPECT_EQ(threshold_from({32768, 4000, 100, 1e9}), kThresholdMost);
  EXPECT_EQ(threshold_from({32768, 0, 0, 0}), kThresholdMost);
}

TEST(threshold, of_this_machine_is_within_them_and_stays) {
  const std::uint32_t measured = threshold_of_this_machine();
  EXPECT_GE(measured, kThresholdLeast);
  EXPECT_LE(measured, kThresholdMost);
  EXPECT_EQ(measured % 4096, 0U);
  for (int i = 0; i < 100; i++) EXPECT_EQ(threshold_of_this_machine(), measured);
}

}  // namespace
}  // namespace omx::local
