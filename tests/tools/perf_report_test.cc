// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tools/perf/perf_group.h"
#include "tools/perf/perf_pace.h"
#include "tools/perf/perf_plot.h"

namespace omx::tools {

namespace {

PerfTook took_of(double seconds) {
  PerfTook took;
  took.seconds = seconds;
  return took;
}

PerfHistogram times_of(const std::vector<std::uint64_t>& round_trips_ns) {
  PerfHistogram times;
  for (const std::uint64_t ns : round_trips_ns) times.add(ns);
  return times;
}

TEST(tally, rates_come_from_the_whole_time) {
  // One disturbed round trip changes the rate but not the median.
  const PerfOptions options;
  PerfTally tally(options, 1);
  tally.add(5, took_of(1), times_of({2000, 2000, 2000, 2000, 192000}));
  const PerfRow row = tally.row(1000);
  EXPECT_DOUBLE_EQ(row.median_us, 1);
  EXPECT_DOUBLE_EQ(row.min_us, 1);
  EXPECT_DOUBLE_EQ(row.max_us, 96);
  EXPECT_DOUBLE_EQ(row.mean_us, 20);
  EXPECT_DOUBLE_EQ(row.seconds, 200e-6);
  EXPECT_DOUBLE_EQ(row.per_second, 10 / 200e-6);
  EXPECT_DOUBLE_EQ(row.mb_per_s(), 50);
}

TEST(tally, threads_measure_at_the_same_time) {
  const PerfOptions options;
  PerfTally tally(options, 2);
  tally.add(2, took_of(1), times_of({2000, 2000, 2000, 2000}));  // two of each thread
  const PerfRow row = tally.row(8);
  EXPECT_EQ(row.messages, 4U);
  EXPECT_DOUBLE_EQ(row.seconds, 4e-6);
  EXPECT_DOUBLE_EQ(row.per_second, 8 / 4e-6);
}

TEST(tally, has_the_percentiles_that_were_asked_for) {
  PerfOptions options;
  options.percentiles = {25, 75};
  PerfTally tally(options, 1);
  tally.add(4, took_of(1), times_of({200, 400, 600, 800}));
  const auto percentiles = tally.figures().percentiles;
  ASSERT_EQ(percentiles.size(), 2U);
  EXPECT_EQ(percentiles[0], std::pair(25.0, 0.1));
  EXPECT_DOUBLE_EQ(percentiles[1].second, 0.3);
}

TEST(tally, counts_both_directions) {
  PerfOptions options;
  for (const auto& [test, per_second] :
       {std::pair(PerfTest::stream, 50.0), std::pair(PerfTest::bistream, 100.0)}) {
    options.test = test;
    PerfTally tally(options, 1);
    tally.add(60, took_of(1.5), {});
    tally.add(40, took_of(0.5), {});
    EXPECT_DOUBLE_EQ(tally.row(8).per_second, per_second);
    tally.clear();
    tally.add(7, took_of(1), {});
    EXPECT_EQ(tally.row(8).messages, 7U);
  }
}

TEST(tally, tells_the_slowest_and_the_fastest_sender) {
  PerfOptions options;
  options.test = PerfTest::stream;
  PerfTally tally(options, 3);
  PerfTook took = took_of(4);
  took.fastest_s = 1;
  took.slowest_s = 4;
  took.receivers = 2;
  tally.add(1000, took, {});
  const PerfRow row = tally.row(1000);
  EXPECT_DOUBLE_EQ(row.mb_per_s(), 0.75);
  EXPECT_DOUBLE_EQ(row.fastest_mb_per_s, 2);
  EXPECT_DOUBLE_EQ(row.slowest_mb_per_s, 0.5);
}

TEST(tally, adds_up_what_both_sides_spent) {
  const PerfOptions options;
  PerfTally tally(options, 1);
  PerfTook took = took_of(2);
  took.here = {PerfUsage::kTimes | PerfUsage::kCycles, 500000000, 250000000, 6000};
  took.there = {PerfUsage::kTimes, 1000000000, 1000000000, EACCES};
  took.bytes_here = took.bytes_there = 1000;
  tally.add(1, took, {});
  tally.add(1, took, {});
  const PerfRow row = tally.row(500);
  EXPECT_DOUBLE_EQ(row.here.processors(), 0.375);
  EXPECT_DOUBLE_EQ(row.here.cycles_per_byte(), 6);
  EXPECT_DOUBLE_EQ(row.there.processors(), 1);
  EXPECT_LT(row.there.cycles_per_byte(), 0) << "not known";
  EXPECT_LT(tally.row(0).there.cycles_per_byte(), 0);
}

TEST(usage, of_two_is_known_if_that_of_both_is) {
  PerfUsage sum{PerfUsage::kTimes | PerfUsage::kCycles, 1, 2, 100};
  sum.add({PerfUsage::kTimes | PerfUsage::kCycles | PerfUsage::kUserCycles, 10, 20, 1000});
  EXPECT_EQ(sum.times_ns(), 33U);
  EXPECT_EQ(sum.cycles, 1100U);
  EXPECT_EQ(sum.known, PerfUsage::kTimes | PerfUsage::kCycles | PerfUsage::kUserCycles);
  sum.add({PerfUsage::kTimes, 0, 0, ENOENT});
  EXPECT_EQ(sum.known, PerfUsage::kTimes | PerfUsage::kUserCycles);
  EXPECT_THAT(sum.cycles_missing(), testing::HasSubstr("no counter"));
  sum.add({PerfUsage::kTimes | PerfUsage::kCycles, 0, 0, 5});
  EXPECT_EQ(sum.cycles, static_cast<std::uint64_t>(ENOENT)) << "the reason stays";
}

TEST(usage, says_what_is_not_known) {
  using testing::ElementsAre;
  using testing::HasSubstr;
  EXPECT_THAT(usage_notes({}, "there"), ElementsAre(HasSubstr("older")));
  EXPECT_THAT(usage_notes({PerfUsage::kTimes | PerfUsage::kCycles, 1, 1, 1}, "here"), ElementsAre());
  EXPECT_THAT(usage_notes({PerfUsage::kTimes | PerfUsage::kThread, 1, 1, EPERM}, "here"),
              ElementsAre(HasSubstr("threads"), HasSubstr("perf_event_paranoid")));
}

TEST(meter, counts_what_this_thread_does) {
  for (const auto scope : {PerfMeter::Scope::process, PerfMeter::Scope::thread}) {
    PerfMeter meter(scope);
    meter.start();
    PerfUsage usage;
    volatile unsigned work = 0;
    while (usage.times_ns() < 1000000) {
      for (unsigned i = 0; i < 10000; i++) work = work + i;
      usage = meter.stop();
    }
    EXPECT_TRUE(usage.known & PerfUsage::kTimes);
    EXPECT_EQ((usage.known & PerfUsage::kThread) != 0, scope == PerfMeter::Scope::thread);
    EXPECT_GT(usage.cycles, 0U) << "cycles, or the reason why they are not known";
  }
}

TEST(short_sizes, are_one_line) {
  PerfOptions options;
  PerfRow row;
  row.size = 8;
  row.messages = 60;
  row.wanted = 10000;
  EXPECT_EQ(short_line(options, {row}), "") << "60 round trips tell enough, and the user asked for no number";
  PerfRow large = row;
  large.size = 4096;
  large.messages = 12;
  EXPECT_EQ(short_line(options, {row, large}),
            "too few messages, as a size may take 3 s (--max-time): 4096 bytes: 12\n");
  options.iterations = 10000;
  options.max_time_s = 0.5;
  EXPECT_EQ(short_line(options, {row, large}),
            "fewer than --iterations messages, as a size may take 0.5 s (--max-time): 8 bytes: 60 of 10000, "
            "4096 bytes: 12 of 10000\n");
  PerfRow again = row;
  again.messages = 50;
  EXPECT_THAT(short_line(options, {row, again}), testing::EndsWith(": 8 bytes: 50 of 10000\n")) << "a repeat";
  row.messages = row.wanted;
  EXPECT_EQ(short_line(options, {row}), "");
}

TEST(histogram_lines, have_four_rows_for_an_octave) {
  PerfHistogram times;
  for (std::uint64_t ns = 1024; ns < 2048; ns++) times.add(ns);
  times.add(1 << 20);
  const auto lines = histogram_lines(times.buckets());
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "        0.51 to      0.64 us       256  24.98 % " + std::string(40, '#'));
  EXPECT_EQ(lines[3], "        0.90 to      1.02 us       256  24.98 % " + std::string(40, '#'));
  EXPECT_EQ(lines[4], "      524.29 to    655.36 us         1   0.10 %");
  EXPECT_TRUE(histogram_lines({}).empty());
}

TEST(percentiles, are_over_0_and_up_to_100) {
  EXPECT_EQ(percentiles_parse("50,99,99.9,100"), (std::vector<double>{50, 99, 99.9, 100}));
  for (const char* text : {"", "0", "-1", "100.1", "50,", ",50", "50;99", "nan", "inf", "x", "99%"})
    EXPECT_FALSE(percentiles_parse(text)) << text;
}

TEST(group, knows_who_sends) {
  EXPECT_TRUE(group_sends(PerfPattern::incast, 2, 0));
  EXPECT_FALSE(group_sends(PerfPattern::incast, 0, 2));
  EXPECT_FALSE(group_sends(PerfPattern::incast, 1, 2));
  EXPECT_TRUE(group_sends(PerfPattern::all_pairs, 0, 2));
  EXPECT_TRUE(group_sends(PerfPattern::all_pairs, 2, 1));
  EXPECT_FALSE(group_sends(PerfPattern::all_pairs, 1, 1));
}

TEST(hello, carries_the_dialogue_where_the_first_one_does_not_look) {
  PerfHello hello = PerfHello::of(0xFEDCBA98);
  EXPECT_EQ(hello.version, 1U);
  EXPECT_EQ(hello.number(), 0xFEDCBA98U);
  EXPECT_EQ(hello.dialogue(), kDialogueNewest);
  hello.client = 0xFEDCBA98;  // of dialogue 1
  EXPECT_EQ(hello.dialogue(), 1U);
}

TEST(plot, draws_the_median_of_repeats) {
  PerfOptions options;
  options.peers = {"it's"};
  PerfRow row;
  row.size = 8;
  std::vector<PerfRow> rows;
  for (const double us : {3.0, 1.0, 2.0}) {
    row.median_us = us;
    row.per_second = us * 1e6;
    rows.push_back(row);
  }
  const std::string script = plot_script(options, rows);
  EXPECT_THAT(script, testing::HasSubstr("\n8 2.0000 16.0000\nEND\n"));
  EXPECT_THAT(script, testing::HasSubstr("'omx perf: pingpong with it''s'"));
  EXPECT_THAT(script, testing::HasSubstr("half round trip"));
  options.test = PerfTest::stream;
  EXPECT_THAT(plot_script(options, rows), testing::Not(testing::HasSubstr("half round trip")));
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
