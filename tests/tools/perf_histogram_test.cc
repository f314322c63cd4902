// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_histogram.h"

#include <gtest/gtest.h>

namespace omx::tools {

namespace {

TEST(histogram, is_empty_at_first) {
  const PerfHistogram times;
  EXPECT_EQ(times.count(), 0U);
  EXPECT_EQ(times.least(), 0U);
  EXPECT_EQ(times.greatest(), 0U);
  EXPECT_EQ(times.percentile(50), 0);
  EXPECT_TRUE(times.buckets().empty());
}

TEST(histogram, percentiles_have_the_nearest_rank) {
  PerfHistogram times;
  for (std::uint64_t ns = 1; ns <= 1000; ns++) times.add(ns);
  EXPECT_EQ(times.percentile(0.01), 1);
  EXPECT_EQ(times.percentile(0.1), 1);
  EXPECT_EQ(times.percentile(0.11), 2);
  EXPECT_EQ(times.percentile(50), 500);
  EXPECT_EQ(times.percentile(99), 990);
  EXPECT_EQ(times.percentile(99.9), 999) << "not 1000, though 99.9 / 100 * 1000 is above 999 as a double";
  EXPECT_EQ(times.percentile(99.91), 1000);
  EXPECT_EQ(times.percentile(100), 1000);
  EXPECT_EQ(times.sum(), 500500U);
}

TEST(histogram, a_lone_time_is_every_percentile) {
  PerfHistogram times;
  times.add(123456789);
  for (const double percent : {0.001, 50.0, 99.999, 100.0}) EXPECT_EQ(times.percentile(percent), 123456789);
}

TEST(histogram, no_time_is_wrong_by_more_than_a_thousandth) {
  for (std::uint64_t ns = 1; ns < PerfHistogram::kMost; ns += ns / 7 + 1) {
    PerfHistogram times;
    times.add(0);
    times.add(ns);
    times.add(PerfHistogram::kMost);
    const auto exact = static_cast<double>(ns);
    EXPECT_NEAR(times.percentile(50), exact, exact / 1000) << ns;
  }
}

TEST(histogram, buckets_touch_and_hold_their_times) {
  PerfHistogram times;
  for (std::uint64_t ns = 0; ns < 10000; ns++) times.add(ns);
  std::uint64_t next = 0, count = 0;
  for (const auto& bucket : times.buckets()) {
    EXPECT_EQ(bucket.low, next);
    next = bucket.high + 1;
    count += bucket.count;
    if (bucket.high < 9999) {
      EXPECT_EQ(bucket.count, bucket.high - bucket.low + 1);
    }
  }
  EXPECT_EQ(count, 10000U);
  EXPECT_EQ(times.buckets()[2047].high, 2047U) << "one nanosecond wide below 2048";
  EXPECT_EQ(times.buckets()[2048].high, 2049U) << "two above";
}

TEST(histogram, longer_times_count_as_the_longest) {
  PerfHistogram times;
  times.add(~0ULL);
  EXPECT_EQ(times.greatest(), PerfHistogram::kMost);
  EXPECT_EQ(times.count(), 1U);
}

TEST(histogram, merges_and_clears) {
  PerfHistogram one, two;
  one.add(10);
  two.add(5000000);
  two.add(20);
  two.add(20);
  one.merge(two);
  EXPECT_EQ(one.count(), 4U);
  EXPECT_EQ(one.percentile(50), 20);
  EXPECT_EQ(one.greatest(), 5000000U);
  one.merge(PerfHistogram());
  EXPECT_EQ(one.least(), 10U);
  one.clear();
  EXPECT_EQ(one.count(), 0U);
  EXPECT_TRUE(one.buckets().empty());
  one.add(30);
  EXPECT_EQ(one.percentile(100), 30);
  EXPECT_EQ(one.buckets().size(), 1U);
}

}  // namespace

}  // namespace omx::tools
