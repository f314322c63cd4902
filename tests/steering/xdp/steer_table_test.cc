// SPDX-License-Identifier: BSD-3-Clause
#include "steering/xdp/steer_table.h"
#include "base/affinity.h"

#include <gmock/gmock.h>

namespace omx::steering {
namespace {

using testing::HasSubstr;

const std::vector<int> kOnline = {0, 1, 2, 5};

SteerTable table(std::string_view cpus, std::string_view map) {
  const auto made = steer_table_make(cpus, map, kOnline);
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(SteerTable{});
}

std::string refusal(std::string_view cpus, std::string_view map) {
  const auto made = steer_table_make(cpus, map, kOnline);
  EXPECT_FALSE(made) << cpus << " / " << map;
  return made ? "" : made.error().message;
}

TEST(steer_table_make, nothing_said_takes_all_that_are_online) {
  const SteerTable t = table("", "");
  for (std::size_t e = 0; e < t.size(); e++) EXPECT_EQ(t[e], static_cast<unsigned>(kOnline[e % 4])) << e;
}

TEST(steer_table_make, cpus_in_the_order_given) {
  const SteerTable t = table("5,1-2", "");
  for (std::size_t e = 0; e < t.size(); e++) EXPECT_EQ(t[e], (std::array{5U, 1U, 2U})[e % 3]) << e;
}

TEST(steer_table_make, map_comes_before_cpus) {
  const SteerTable t = table("0", "7:1,250-254:5,255:2,250:5");
  for (std::size_t e = 0; e < t.size(); e++) {
    const unsigned expected = e == 7 ? 1 : e == 255 ? 2 : e >= 250 ? 5 : 0;
    EXPECT_EQ(t[e], expected) << e;
  }
}

TEST(steer_table_make, malformed) {
  for (const char* cpus : {"x", "1-", "2-1", "0,", "-1", "0 1"})
    EXPECT_THAT(refusal(cpus, ""), HasSubstr("--cpus")) << cpus;
  for (const char* map : {"x", "1", "1:", ":1", "1:x", "256:0", "3-2:0", "0-256:0", "1:0,", ",", "1:0,,2:0",
                          "-1:0", "1:-1", "1-:0", "99999999999999999999:0"})
    EXPECT_THAT(refusal("", map), HasSubstr("--map")) << map;
}

TEST(steer_table_make, map_that_contradicts_itself) {
  EXPECT_THAT(refusal("0", "250-255:5,255:2"),
              HasSubstr("--map gives endpoint 255 to processor 5 and to processor 2"));
  EXPECT_THAT(refusal("0", "3:1,0-7:0"),
              HasSubstr("--map gives endpoint 3 to processor 1 and to processor 0"));
}

TEST(steer_table_make, processors_that_are_not_there) {
  EXPECT_THAT(refusal("0,3", ""), HasSubstr("no processor 3 that is switched on; there are: 0,1,2,5"));
  EXPECT_THAT(refusal("", "1:3"), HasSubstr("no processor 3 "));
  EXPECT_THAT(refusal("", "1:4294967296"), HasSubstr("no processor 2147483647 "));
}

TEST(steer_table_text, rules) {
  EXPECT_EQ(steer_table_text(table("2", "")), "on processor 2");
  EXPECT_EQ(steer_table_text(table("0,1", "")), "modulo 2 on processors 0,1");
  EXPECT_EQ(steer_table_text(table("0,1", "4:5,7:2")), "modulo 2 on processors 0,1, but 4 on 5, 7 on 2");
}

// With exceptions inside the first period, the rule is that of the other endpoints.
TEST(steer_table_text, exceptions_at_the_beginning) {
  EXPECT_EQ(steer_table_text(table("0,1", "0:5")), "modulo 2 on processors 0,1, but 0 on 5");
  EXPECT_EQ(steer_table_text(table("0", "0-1:1")), "on processor 0, but 0 on 1, 1 on 1");
}

TEST(processors_online, this_one_has_some) {
  EXPECT_FALSE(processors_online().empty());
}

}  // namespace
}  // namespace omx::steering
