// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"

#include <gtest/gtest.h>

namespace omx {
namespace {

TEST(shown, plain) {
  EXPECT_EQ(shown("eth0 \xC3\xA9"), "eth0 \xC3\xA9");
}

TEST(shown, control_characters) {
  EXPECT_EQ(shown("a\x1B[2J\nb\x7F"), "a?[2J?b?");
}

// C1 controls: U+009B begins a terminal sequence as ESC [ does. Some terminals take even its last byte alone
// for it.
TEST(shown, control_characters_beyond_ascii) {
  EXPECT_EQ(shown("a\xC2\x9B"
                  "2Jb"),
            "a?2Jb");
  EXPECT_EQ(shown("a\x9B"
                  "2Jb"),
            "a?2Jb");
  EXPECT_EQ(shown("\xC2\xA0\xE2\x82\xAC\xF0\x9F\x99\x82"), "\xC2\xA0\xE2\x82\xAC\xF0\x9F\x99\x82");
}

TEST(shown, what_is_not_utf8) {
  EXPECT_EQ(shown("\xC3"), "?");
  EXPECT_EQ(shown("\xE2\x82"
                  "x"),
            "??x");
  EXPECT_EQ(shown("\xFF\xC0\x80"), "???");
  EXPECT_EQ(shown("ab\xC3\xA9", 3), "ab...");
}

TEST(shown, has_an_end) {
  EXPECT_EQ(shown(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(shown(std::string(61, 'x')), std::string(60, 'x') + "...");
  EXPECT_EQ(shown("abcdef", 3), "abc...");
}

TEST(nearest_word, a_few_letters) {
  const std::string_view words[] = {"spin_us", "link", "interfaces", "peer_timeout_ms", "rails"};
  const auto nearest = [&](std::string_view word) { return nearest_word(word, words); };
  EXPECT_EQ(nearest("spinus"), "spin_us");
  EXPECT_EQ(nearest("lnik"), "link");
  EXPECT_EQ(nearest("ling"), "link");
  EXPECT_EQ(nearest("interface"), "interfaces");
  EXPECT_EQ(nearest("peer_timeout"), "peer_timeout_ms");
  EXPECT_EQ(nearest("rail"), "rails");
  EXPECT_EQ(nearest("colour"), "");
  EXPECT_EQ(nearest("l"), "");
  EXPECT_EQ(nearest(""), "");
  EXPECT_EQ(nearest_word("link", {}), "");
}

TEST(nearest_word, of_equals_the_first_and_fewer_differences_first) {
  const std::string_view words[] = {"rail", "rails", "mails"};
  EXPECT_EQ(nearest_word("tails", words), "rails");
  EXPECT_EQ(nearest_word("rails", words), "rails");
}

}  // namespace
}  // namespace omx
