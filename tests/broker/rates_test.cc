// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/rates.h"

#include <gtest/gtest.h>

#include "kernel/grant_maps_fixture.h"

namespace omx::broker {
namespace {

class RatesTest : public GrantMapsTest {
 protected:
  Rates rates_{maps_};
};

TEST_F(RatesTest, set__a_user_keeps_the_number) {
  EXPECT_EQ(rates_.set(1000, 0), 0U);
  const auto number = rates_.set(1000, 1'000'000);
  ASSERT_TRUE(number);
  EXPECT_NE(*number, 0U);
  EXPECT_EQ(rates_.set(1000, 0), *number);
  EXPECT_EQ(rates_.set(1000, 8'000'000), *number);
  UserRate rate;
  ASSERT_EQ(user_rate_read(maps_, *number, rate), 0);
  EXPECT_EQ(rate.ns_per_kib, 1'024'000U);
  EXPECT_NE(rates_.set(1001, 1'000'000), *number);
}

TEST_F(RatesTest, set__more_users_than_numbers) {
  for (uid_t uid = 1; uid < kUsers; uid++) ASSERT_TRUE(rates_.set(uid, 1'000'000)) << uid;
  const auto refused = rates_.set(kUsers, 1'000'000);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("1023 users have a rate"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(rates_.set(kUsers, 0), 0U) << "without a rate";
  rates_.give(7);
  EXPECT_EQ(rates_.set(kUsers, 1'000'000), 7U);
}

TEST_F(RatesTest, give__what_was_sent_still_counts) {
  const std::uint32_t number = rates_.set(1000, 1'000'000).value_or(0);
  UserRate used;
  ASSERT_EQ(user_rate_read(maps_, number, used), 0);
  used.next_ns = 123'456'789;
  ASSERT_EQ(user_rate_write(maps_, number, used), 0);
  rates_.give(1000);
  ASSERT_EQ(rates_.set(1000, 1'000'000), number);
  ASSERT_EQ(user_rate_read(maps_, number, used), 0);
  EXPECT_EQ(used.next_ns, 123'456'789U);
}

TEST_F(RatesTest, adopt__a_number_that_is_taken_stays_its_users) {
  rates_.adopt(1000, 5);
  rates_.adopt(1001, 5);
  rates_.adopt(1002, 0);
  rates_.adopt(1003, kUsers);
  EXPECT_EQ(rates_.set(1000, 1'000'000), 5U);
  EXPECT_EQ(rates_.set(1001, 1'000'000), 1U);
  EXPECT_EQ(rates_.set(1002, 0), 0U);
  EXPECT_EQ(rates_.set(1003, 0), 0U);
}

}  // namespace
}  // namespace omx::broker
