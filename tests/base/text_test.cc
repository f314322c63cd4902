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

TEST(shown, has_an_end) {
  EXPECT_EQ(shown(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(shown(std::string(61, 'x')), std::string(60, 'x') + "...");
  EXPECT_EQ(shown("abcdef", 3), "abc...");
}

}  // namespace
}  // namespace omx
