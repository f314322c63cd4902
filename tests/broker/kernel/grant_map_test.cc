// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/grant_map.h"

#include <gtest/gtest.h>

#include "grant_maps_fixture.h"
#include "tools/broker/kernel/egress_program.h"

namespace omx::broker {
namespace {

using GrantMapTest = GrantMapsTest;

Grant some_grant() {
  Grant grant;
  grant.cookie = 0x123456789ABCULL;
  grant.mac = {2, 3, 4, 5, 6, 7};
  grant.endpoint = 9;
  grant.max_frame = 1514;
  grant.uid = 65534;
  grant.started = 77;
  return grant;
}

TEST_F(GrantMapTest, slot__is_empty_then_written_then_cleared) {
  for (const std::uint32_t slot : {0U, 1U, kSlots - 1}) {
    Grant seen = some_grant();
    ASSERT_EQ(grant_read(maps_, slot, seen), 0);
    EXPECT_EQ(seen, Grant{});
    ASSERT_EQ(grant_write(maps_, slot, some_grant()), 0);
    ASSERT_EQ(grant_read(maps_, slot, seen), 0);
    EXPECT_EQ(seen, some_grant());
    ASSERT_EQ(grant_clear(maps_, slot), 0);
    ASSERT_EQ(grant_read(maps_, slot, seen), 0);
    EXPECT_EQ(seen, Grant{});
  }
}

TEST_F(GrantMapTest, slot__beyond_the_last_is_an_error) {
  Grant seen;
  EXPECT_NE(grant_read(maps_, kSlots, seen), 0);
  EXPECT_NE(grant_write(maps_, kSlots, seen), 0);
}

TEST_F(GrantMapTest, program__leads_to_the_same_maps) {
  ASSERT_EQ(grant_write(maps_, 5, some_grant()), 0);
  ASSERT_EQ(user_rate_write(maps_, 3, {100, 200, 0}), 0);
  const auto program = egress_program_load(maps_, Unmarked::pass);
  ASSERT_TRUE(program) << program.error().message;
  maps_ = {};
  const auto found = grant_maps_of(program->get());
  ASSERT_TRUE(found) << found.error().message;
  Grant seen;
  ASSERT_EQ(grant_read(*found, 5, seen), 0);
  EXPECT_EQ(seen, some_grant());
  UserRate rate;
  ASSERT_EQ(user_rate_read(*found, 3, rate), 0);
  EXPECT_EQ(rate.burst_ns, 200U);
  GrantCounters counters{1, 1, 1, 1, 1, 1, 1, 1};
  ASSERT_EQ(grant_counters_read(*found, 5, counters), 0);
  EXPECT_EQ(counters, GrantCounters{});
}

}  // namespace
}  // namespace omx::broker
