// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/counter_texts.h"

#include <gtest/gtest.h>

namespace omx::tools {

namespace {

TEST(counter_text, every_counter_is_explained_in_one_line) {
  const auto counters = counter_values({});
  for (const auto& [label, value] : counters) {
    const CounterText* text = counter_text(label);
    ASSERT_TRUE(text) << label;
    EXPECT_FALSE(text->unit.empty()) << label;
    EXPECT_FALSE(text->meaning.empty()) << label;
    EXPECT_LE(text->meaning.size(), 120U) << label;
  }
  EXPECT_EQ(counter_text_count(), counters.size()) << "a text without its counter";
}

TEST(counter_text, none_for_what_is_no_counter) {
  EXPECT_FALSE(counter_text("Send Nothing"));
}

}  // namespace

}  // namespace omx::tools
