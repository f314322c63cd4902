// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/quota.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/broker/made_up_accounts.h"

namespace omx::broker {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;
const Holding kTotal{10, 100 * kMiB, 20};

User user(uid_t uid) {
  return made_up_accounts().user(uid);
}

Limits limits(std::uint32_t endpoints, std::uint64_t memory, std::uint32_t connections) {
  return {endpoints, memory, connections, 0};
}

TEST(quota_take, up_to_the_limit) {
  Quota quota(kTotal, "/etc/open-mx/broker.conf");
  const Limits two = limits(2, 8 * kMiB, 3);
  EXPECT_TRUE(quota.take(user(kAlice), {1, 4 * kMiB, 0}, two));
  EXPECT_TRUE(quota.take(user(kAlice), {1, 4 * kMiB, 0}, two));
  const auto third = quota.take(user(kAlice), {1, 0, 0}, two);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().message,
            "user alice (1001) holds 2 of 2 endpoints; close some, or the administrator raises it in "
            "/etc/open-mx/broker.conf (user alice endpoints = ...)");
  EXPECT_EQ(third.error().mx_code, 15);  // MX_NO_RESOURCES
  EXPECT_EQ(quota.held(kAlice), (Holding{2, 8 * kMiB, 0}));
  // Another user has limits of its own.
  EXPECT_TRUE(quota.take(user(kBob), {1, kMiB, 0}, two));
}

TEST(quota_take, memory__says_how_much_is_asked_for) {
  Quota quota(kTotal, "FILE");
  const Limits small = limits(9, 8 * kMiB, 9);
  EXPECT_TRUE(quota.take(user(kStranger), {1, 5 * kMiB + 4096, 0}, small));
  const auto more = quota.take(user(kStranger), {1, 3 * kMiB, 0}, small);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().message,
            "user 65534 holds 5124 KiB of 8 MiB for rings and asks for 3 MiB more; close endpoints or make "
            "rings smaller "
            "(OMX_RING_BYTES), or the administrator raises it in FILE (user 65534 memory = ...)");
}

TEST(quota_take, connections) {
  Quota quota(kTotal, "FILE");
  EXPECT_TRUE(quota.take(user(kAlice), {0, 0, 1}, limits(1, kMiB, 1)));
  EXPECT_THAT(quota.take(user(kAlice), {0, 0, 1}, limits(1, kMiB, 1)).error().message,
              HasSubstr("holds 1 of 1 connections to the broker; end some processes"));
}

TEST(quota_take, all_or_nothing) {
  Quota quota(kTotal, "FILE");
  EXPECT_FALSE(quota.take(user(kAlice), {1, 2 * kMiB, 1}, limits(4, kMiB, 4)));
  EXPECT_EQ(quota.held(kAlice), Holding());
  EXPECT_EQ(quota.held_by_all(), Holding());
  EXPECT_EQ(quota.users(), 0U);
}

TEST(quota_take, all_users_together) {
  Quota quota(kTotal, "FILE");
  const Limits eight = limits(8, 64 * kMiB, 8);
  EXPECT_TRUE(quota.take(user(kAlice), {8, 0, 0}, eight));
  EXPECT_TRUE(quota.take(user(kBob), {2, 0, 0}, eight));
  EXPECT_EQ(quota.take(user(kBob), {1, 0, 0}, eight).error().message,
            "all users of the broker together hold 10 of 10 endpoints, and user bob (1002) holds 2 of them; "
            "close some, "
            "or the administrator lowers \"endpoints\" of other users in FILE");
  quota.give(kAlice, {1, 0, 0});
  EXPECT_TRUE(quota.take(user(kBob), {1, 0, 0}, eight));
}

// A policy that was reloaded may allow less than a user holds.
TEST(quota_take, limit_below_what_is_held) {
  Quota quota(kTotal, "FILE");
  EXPECT_TRUE(quota.take(user(kAlice), {5, 5 * kMiB, 0}, limits(9, 9 * kMiB, 9)));
  const Limits less = limits(2, kMiB, 9);
  EXPECT_THAT(quota.take(user(kAlice), {1, 0, 0}, less).error().message, HasSubstr("holds 5 of 2 endpoints"));
  // The user still gets connections, of which it has less than it may.
  EXPECT_TRUE(quota.take(user(kAlice), {0, 0, 1}, less));
  quota.total_set({1, kMiB, 1});
  EXPECT_FALSE(quota.take(user(kBob), {1, 0, 0}, limits(9, 9 * kMiB, 9)));
  quota.give(kAlice, {5, 5 * kMiB, 1});
  EXPECT_TRUE(quota.take(user(kBob), {1, 0, 0}, limits(9, 9 * kMiB, 9)));
}

TEST(quota_take, sizes_that_would_wrap_around) {
  Quota quota(kTotal, "FILE");
  const Limits all = limits(~0U, ~std::uint64_t{0}, ~0U);
  EXPECT_TRUE(quota.take(user(kAlice), {1, kMiB, 1}, all));
  EXPECT_FALSE(quota.take(user(kAlice), {~0U, 0, 0}, all));
  EXPECT_FALSE(quota.take(user(kAlice), {0, ~std::uint64_t{0}, 0}, all));
  EXPECT_FALSE(quota.take(user(kAlice), {0, 0, ~0U}, all));
  EXPECT_EQ(quota.held(kAlice), (Holding{1, kMiB, 1}));
}

TEST(quota_give, user_who_holds_nothing_takes_no_room) {
  Quota quota(kTotal, "FILE");
  for (uid_t uid = 0; uid < 1000; uid++) {
    EXPECT_TRUE(quota.take({uid, "", {}}, {1, kMiB, 1}, Limits()));
    quota.give(uid, {1, kMiB, 0});
    EXPECT_EQ(quota.users(), 1U);
    quota.give(uid, {0, 0, 1});
  }
  EXPECT_EQ(quota.users(), 0U);
  EXPECT_TRUE(quota.take(user(kAlice), {}, Limits()));
  EXPECT_EQ(quota.users(), 0U);
}

// Whatever is taken and given in whatever order, the sums agree and no limit is exceeded.
TEST(quota, any_order) {
  Quota quota(kTotal, "FILE");
  std::mt19937 random(30);
  std::map<uid_t, std::vector<Holding>> held;
  int taken = 0, refused = 0;
  for (int round = 0; round < 20000; round++) {
    const uid_t uid = 1001 + random() % 3;
    auto& own = held[uid];
    if (!own.empty() && random() % 2) {
      quota.give(uid, own.back());
      own.pop_back();
    } else {
      const Holding more{static_cast<std::uint32_t>(random() % 3), random() % (20 * kMiB),
                         static_cast<std::uint32_t>(random() % 3)};
      const bool given = quota.take(user(uid), more, limits(6, 60 * kMiB, 9)).has_value();
      if (given) own.push_back(more);
      (given ? taken : refused)++;
    }
    Holding all;
    for (const auto& [id, list] : held) {
      Holding sum;
      for (const Holding& h : list) {
        sum = {sum.endpoints + h.endpoints, sum.memory + h.memory, sum.connections + h.connections};
      }
      ASSERT_EQ(quota.held(id), sum);
      ASSERT_LE(sum.endpoints, 6U);
      all = {all.endpoints + sum.endpoints, all.memory + sum.memory, all.connections + sum.connections};
    }
    ASSERT_EQ(quota.held_by_all(), all);
    ASSERT_LE(all.memory, kTotal.memory);
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace omx::broker
