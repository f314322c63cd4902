// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_report.h"

#include <gtest/gtest.h>

#include "tools/perf/perf_pace.h"

namespace omx::tools {

namespace {

TEST(row_of_samples, rates_come_from_the_whole_time) {
  // One disturbed round trip changes the rate but not the median.
  std::vector<double> half_round_trips_us{1, 1, 1, 1, 96};
  const PerfRow row = row_of_samples(1000, half_round_trips_us);
  EXPECT_DOUBLE_EQ(row.median_us, 1);
  EXPECT_DOUBLE_EQ(row.seconds, 200e-6);
  EXPECT_DOUBLE_EQ(row.per_second, 10 / 200e-6);
  EXPECT_DOUBLE_EQ(row.mb_per_s(), 50);
}

TEST(row_of_stream, counts_both_directions) {
  EXPECT_DOUBLE_EQ(row_of_stream(PerfTest::stream, 8, 100, 2).per_second, 50);
  EXPECT_DOUBLE_EQ(row_of_stream(PerfTest::bistream, 8, 100, 2).per_second, 100);
}

TEST(perf_pace, tries_a_few_messages_first) {
  const PerfPace pace;
  EXPECT_EQ(pace.next(10000), PerfPace::kFirst);
  EXPECT_EQ(pace.next(3), 3U);
}

TEST(perf_pace, a_fast_machine_does_all_at_once) {
  PerfPace pace;
  pace.took(16, 16 * 4e-6);
  EXPECT_EQ(pace.next(10000), 10000U);
}

TEST(perf_pace, a_slow_machine_does_what_fits_the_time) {
  PerfPace pace;
  pace.took(16, 16 * 0.005);
  EXPECT_EQ(pace.next(10000), 100U);       // half a second
  EXPECT_EQ(pace.next(10000, 0.1), 20U);   // rest of the limit
  EXPECT_EQ(pace.next(10000, 0.001), 1U);  // never 0
}

TEST(perf_pace, steps_are_long_in_comparison_with_the_round_trip) {
  for (const auto& [round_trip, messages] : {std::pair(0.01, 200U), std::pair(0.0001, 50U)}) {
    PerfPace pace(round_trip);
    pace.took(100, 1.0);
    EXPECT_EQ(pace.next(10000), messages);
    EXPECT_EQ(pace.next(10000, 0.2), 20U) << "no longer than there is time";
  }
}

TEST(perf_limit, holds_unless_iterations_were_asked_for) {
  PerfOptions options;
  EXPECT_EQ(perf_limit_s(options), 3);
  options.min_time_s = 10;
  EXPECT_EQ(perf_limit_s(options), 10);
  options.iterations = 5;
  EXPECT_GT(perf_limit_s(options), 1e9);
  options.max_time_s = 2;
  EXPECT_EQ(perf_limit_s(options), 2);
}

}  // namespace

}  // namespace omx::tools
