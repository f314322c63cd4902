// SPDX-License-Identifier: BSD-3-Clause
// The model that judges the engine, checked by hand.
#include "simulation/engine/matching_model.h"

#include <gtest/gtest.h>

namespace omx::simulation {
namespace {

TEST(matching_model, oldest_receive_first) {
  MatchingModel m;
  EXPECT_FALSE(m.post({1, 5, ~0ULL, nullptr}));
  EXPECT_FALSE(m.post({2, 0, 0, nullptr}));
  EXPECT_FALSE(m.post({3, 5, ~0ULL, nullptr}));
  EXPECT_EQ(m.arrive({10, 5, nullptr}), 1U);
  EXPECT_EQ(m.arrive({11, 5, nullptr}), 2U);
  EXPECT_EQ(m.arrive({12, 6, nullptr}), std::nullopt);
  EXPECT_EQ(m.arrive({13, 5, nullptr}), 3U);
}

TEST(matching_model, oldest_message_first) {
  MatchingModel m;
  const int a = 0, b = 0;
  EXPECT_FALSE(m.arrive({10, 0x15, &a}));
  EXPECT_FALSE(m.arrive({11, 0x25, &b}));
  EXPECT_FALSE(m.arrive({12, 0x25, &a}));
  EXPECT_EQ(m.post({1, 0x25, 0xFF, &a}), 12U);
  EXPECT_EQ(m.post({2, 0x05, 0x0F, nullptr}), 10U);
  EXPECT_EQ(m.post({3, 0, 0, nullptr}), 11U);
  EXPECT_EQ(m.messages(), 0U);
}

TEST(matching_model, a_cancelled_receive_matches_no_more) {
  MatchingModel m;
  EXPECT_FALSE(m.post({1, 5, ~0ULL, nullptr}));
  EXPECT_TRUE(m.cancel(1));
  EXPECT_FALSE(m.cancel(1));
  EXPECT_EQ(m.arrive({10, 5, nullptr}), std::nullopt);
}

TEST(matching_model, a_dropped_message_matches_no_more) {
  MatchingModel m;
  EXPECT_FALSE(m.arrive({10, 5, nullptr}));
  EXPECT_TRUE(m.drop(10));
  EXPECT_FALSE(m.drop(10));
  EXPECT_FALSE(m.post({1, 5, ~0ULL, nullptr}));
}

}  // namespace
}  // namespace omx::simulation
