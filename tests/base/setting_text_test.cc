// SPDX-License-Identifier: BSD-3-Clause
#include "base/setting_text.h"

#include <gtest/gtest.h>

namespace omx {
namespace {

TEST(setting_lines, comments_blanks_and_quotes) {
  const auto lines = setting_lines("# all\n\n  a = 1 # one\r\nb=\" x # y \"\n\tc#d = e\nplain\n = \nz =");
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0].number, 3);
  EXPECT_EQ(lines[0].key, "a");
  EXPECT_EQ(lines[0].value, "1");
  EXPECT_EQ(lines[0].text, "a = 1");
  EXPECT_EQ(lines[1].value, " x # y ");
  EXPECT_EQ(lines[2].key, "c#d");
  EXPECT_EQ(lines[3].text, "plain");
  EXPECT_FALSE(lines[3].value);
  EXPECT_EQ(lines[4].key, "");
  EXPECT_EQ(lines[4].value, "");
  EXPECT_EQ(lines[5].number, 8);
  EXPECT_EQ(lines[5].value, "");
}

TEST(setting_lines, value__keeps_its_own_equals_signs) {
  const auto lines = setting_lines("a = b = c");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].key, "a");
  EXPECT_EQ(lines[0].value, "b = c");
}

TEST(boolean_parse, words) {
  EXPECT_EQ(boolean_parse("yes"), true);
  EXPECT_EQ(boolean_parse("off"), false);
  EXPECT_FALSE(boolean_parse("YES"));
  EXPECT_FALSE(boolean_parse(""));
}

TEST(number_parse_units, units_of_both_kinds) {
  EXPECT_EQ(number_parse_units("7", 1024), 7U);
  EXPECT_EQ(number_parse_units("2k", 1024), 2048U);
  EXPECT_EQ(number_parse_units("3M", 1000), 3'000'000U);
  EXPECT_EQ(number_parse_units("1G", 1024), 1U << 30);
  for (const char* bad : {"", "k", "1T", "1KK", "-1", " 1", "1 K", "99999999999999G"})
    EXPECT_FALSE(number_parse_units(bad, 1024)) << bad;
}

// The largest numbers that still fit, and the first that do not.
TEST(number_parse_units, no_wrap_around) {
  EXPECT_EQ(number_parse_units("18014398509481983K", 1024), 18014398509481983ULL << 10);
  EXPECT_FALSE(number_parse_units("18014398509481984K", 1024));
  EXPECT_FALSE(number_parse_units("18446744073709551616", 1024));
}

}  // namespace
}  // namespace omx
