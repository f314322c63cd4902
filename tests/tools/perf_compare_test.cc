// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/perf/perf_json_read.h"

namespace omx::tools {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

PerfSpread spread(std::vector<double> figures) {
  return spread_of(figures);
}

TEST(spread, of_odd_and_even_numbers) {
  const PerfSpread odd = spread({5, 1, 3});
  EXPECT_EQ(odd.count, 3U);
  EXPECT_EQ(odd.least, 1);
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.greatest, 5);
  EXPECT_EQ(spread({4, 1, 2, 9}).median, 3);
  EXPECT_EQ(spread({7}).median, 7);
}

TEST(change, is_noise_where_ranges_touch) {
  const PerfSpread before = spread({1.0, 1.1, 1.2});
  EXPECT_EQ(change_judge(before, spread({1.2, 1.3, 1.4}), true), PerfChange::noise);
  EXPECT_EQ(change_judge(before, spread({0.5, 1.05, 2}), true), PerfChange::noise);
}

TEST(change, has_a_direction_where_they_do_not) {
  const PerfSpread low = spread({1.0, 1.1, 1.2}), high = spread({1.3, 1.4, 1.5});
  EXPECT_EQ(change_judge(low, high, true), PerfChange::worse);
  EXPECT_EQ(change_judge(low, high, false), PerfChange::better);
  EXPECT_EQ(change_judge(high, low, true), PerfChange::better);
  EXPECT_EQ(change_judge(high, low, false), PerfChange::worse);
}

TEST(change, is_unknown_with_few_repeats) {
  EXPECT_EQ(change_judge(spread({1, 1}), spread({9, 9, 9}), true), PerfChange::unknown);
  EXPECT_EQ(change_judge(spread({1, 1, 1}), spread({9}), true), PerfChange::unknown);
}

TEST(chance, is_that_of_orders) {
  EXPECT_DOUBLE_EQ(chance_once_in(3, 3), 10);   // 2 of 20
  EXPECT_DOUBLE_EQ(chance_once_in(5, 5), 126);  // 2 of 252
  EXPECT_DOUBLE_EQ(chance_once_in(3, 5), 28);   // 2 of 56
}

PerfResults results(const std::string& test, const std::string& rows, const std::string& more = "") {
  const auto read =
      results_read("{\"test\": \"" + test + "\", \"threads\": 1" + more + ", \"results\": [" + rows + "]}");
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : PerfResults{};
}

std::string row(int size, const char* figure, double value) {
  return "{\"size\": " + std::to_string(size) + ", \"" + figure + "\": " + std::to_string(value) + "}";
}

TEST(results, are_read_by_size) {
  const PerfResults read = results(
      "pingpong", row(8, "median_us", 2) + "," + row(64, "median_us", 3) + "," + row(8, "median_us", 1.5));
  EXPECT_EQ(read.figure, "median_us");
  EXPECT_THAT(read.of_size.at(8), ElementsAre(2, 1.5));
  EXPECT_THAT(read.of_size.at(64), ElementsAre(3));
  EXPECT_EQ(results("stream", row(8, "mb_per_s", 2)).figure, "mb_per_s");
  EXPECT_EQ(results("rate", row(8, "million_per_s", 2)).figure, "million_per_s");
}

TEST(results, say_what_is_wrong) {
  EXPECT_THAT(results_read("").error().message, HasSubstr("no JSON"));
  EXPECT_THAT(results_read("[]").error().message, HasSubstr("--output"));
  EXPECT_THAT(results_read("{\"test\": \"rate\"}").error().message, HasSubstr("--output"));
  EXPECT_THAT(results_read("{\"test\": \"rate\", \"results\": []}").error().message, HasSubstr("no results"));
  EXPECT_THAT(results_read("{\"test\": \"rate\", \"results\": [{\"size\": 8}]}").error().message,
              HasSubstr("million_per_s"));
  EXPECT_FALSE(results_read("{\"test\": \"rate\", \"results\": [{\"size\": -8, \"million_per_s\": 1}]}"));
}

std::string three(int size, double a, double b, double c) {
  return row(size, "median_us", a) + "," + row(size, "median_us", b) + "," + row(size, "median_us", c);
}

TEST(comparison, tells_each_size) {
  const PerfResults before =
      results("pingpong", three(8, 2.0, 2.1, 2.2) + "," + three(64, 3, 3, 3.5) + "," + three(1, 1, 1, 1));
  const PerfResults after =
      results("pingpong", three(8, 1.0, 1.05, 1.1) + "," + three(64, 3.2, 3.3, 4) + "," + three(2, 1, 1, 1));
  const auto lines = results_compare(before, after);
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 6U);
  EXPECT_EQ((*lines)[0], "pingpong: median_us, less is better");
  EXPECT_EQ((*lines)[2],
            "         8            2.10 (2.00 to 2.20)            1.05 (1.00 to 1.10)  -50.0 %  better");
  EXPECT_EQ(
      (*lines)[3],
      "        64            3.00 (3.00 to 3.50)            3.30 (3.20 to 4.00)  +10.0 %  within noise");
  EXPECT_EQ((*lines)[4], "in one file only: 1 (first), 2 (second)");
  EXPECT_THAT((*lines)[5], HasSubstr("once in 10 comparisons"));
}

TEST(comparison, knows_no_noise_without_repeats) {
  const PerfResults once = results("pingpong", row(8, "median_us", 2));
  const auto lines = results_compare(once, results("pingpong", row(8, "median_us", 3)));
  ASSERT_TRUE(lines);
  EXPECT_THAT((*lines)[2], HasSubstr("+50.0 %  noise unknown"));
  EXPECT_THAT(lines->back(), HasSubstr("--repeat"));
}

TEST(comparison, names_other_settings_and_refuses_other_tests) {
  const PerfResults before = results("pingpong", row(8, "median_us", 2), ", \"blocking\": true");
  const PerfResults after = results("pingpong", row(8, "median_us", 2), ", \"blocking\": false");
  EXPECT_THAT((*results_compare(before, after))[1], HasSubstr("measured differently"));
  EXPECT_THAT((*results_compare(before, before))[1], Not(HasSubstr("measured differently")));
  const auto refused = results_compare(before, results("rate", row(8, "million_per_s", 2)));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("pingpong, the second of rate"));
}

// A file may come from someone else.
TEST(comparison, shows_no_control_characters_of_a_file) {
  const PerfResults before =
      results("pingpong", row(8, "median_us", 2), R"(, "pattern": "\u001b[2Ja long name")");
  const auto lines = results_compare(before, results("pingpong", row(8, "median_us", 2)));
  ASSERT_TRUE(lines);
  EXPECT_THAT((*lines)[1], HasSubstr("pattern ?[2Ja long name"));
  const auto refused = results_compare(before, results("\\u001b[2J", row(8, "mb_per_s", 1)));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the second of ?[2J"));
}

TEST(json, reads_every_kind) {
  const auto read =
      json_read(R"( {"a": [1, -2.5e1, true, false, null, {}, []], "b": "x\"\\\u0041\u00e4\n"} )");
  ASSERT_TRUE(read);
  const JsonValue* a = read->at("a", JsonValue::Kind::array);
  ASSERT_TRUE(a);
  ASSERT_EQ(a->items.size(), 7U);
  EXPECT_EQ(a->items[1].number, -25);
  EXPECT_TRUE(a->items[2].truth);
  EXPECT_EQ(a->items[3].kind, JsonValue::Kind::truth);
  EXPECT_EQ(a->items[4].kind, JsonValue::Kind::null);
  EXPECT_EQ(a->items[5].kind, JsonValue::Kind::object);
  EXPECT_EQ(read->at("b", JsonValue::Kind::text)->text, "x\"\\A\u00e4\n");
  EXPECT_FALSE(read->at("b", JsonValue::Kind::number));
  EXPECT_FALSE(read->at("c", JsonValue::Kind::text));
}

TEST(json, refuses_what_is_no_document) {
  for (const char* text : {"", "{", "[1,]", "[1 2]", "{\"a\"}", "{\"a\": }", "{a: 1}", "\"x", "\"\\x\"",
                           "\"\\u12\"", "\"\\ud800\"", "1 2", "--1", "tru", "\"a\nb\"", "[1}"})
    EXPECT_FALSE(json_read(text)) << text;
  EXPECT_FALSE(json_read(std::string(1000, '[')));
  EXPECT_TRUE(json_read(std::string(60, '[') + std::string(60, ']')));
}

}  // namespace

}  // namespace omx::tools
