// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/counter_texts.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

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

// Two keys of the same name in one JSON object would hide one of the two values.
TEST(counter_text, former_labels_name_no_counter_of_today) {
  std::set<std::string_view> former;
  std::size_t renamed = 0;
  for (const auto& [label, value] : counter_values({})) {
    const CounterText* const text = counter_text(label);
    if (!text || !text->former) continue;
    renamed++;
    former.insert(text->former);
  }
  EXPECT_GT(renamed, 0U);
  EXPECT_EQ(former.size(), renamed);
  for (const std::string_view label : former) EXPECT_FALSE(counter_text(label)) << label;
}

TEST(counter_text, none_for_what_is_no_counter) {
  EXPECT_FALSE(counter_text("Send Nothing"));
}

}  // namespace

}  // namespace omx::tools
