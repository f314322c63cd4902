// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/schedule.h"

#include <gtest/gtest.h>

#include <set>

namespace omx::tools {

namespace {

TEST(schedule_rounds, brings_all_together_once) {
  for (const std::size_t hosts : {2U, 3U, 7U, 16U, 33U}) {
    std::set<std::pair<std::size_t, std::size_t>> met;
    for (const Round& round : schedule_rounds(hosts, 0)) {
      std::set<std::size_t> busy;
      for (const auto& [a, b] : round) {
        EXPECT_LT(a, b);
        EXPECT_LT(b, hosts);
        EXPECT_TRUE(busy.insert(a).second && busy.insert(b).second) << "a host is in two pairs of one round";
        EXPECT_TRUE(met.insert({a, b}).second) << "a pair meets twice";
      }
    }
    EXPECT_EQ(met.size(), hosts * (hosts - 1) / 2);
  }
}

TEST(schedule_rounds, covers_all_hosts_with_a_sample) {
  for (const std::size_t hosts : {17U, 64U, 1001U}) {
    constexpr std::size_t kPartners = 4;
    std::vector<std::size_t> partners(hosts);
    for (const Round& round : schedule_rounds(hosts, kPartners)) {
      for (const auto& [a, b] : round) {
        partners[a]++;
        partners[b]++;
      }
    }
    for (const std::size_t count : partners) {
      EXPECT_LE(count, kPartners);
      EXPECT_GE(count, kPartners - hosts % 2);
    }
  }
}

TEST(schedule_rounds, has_none_for_one_host) {
  EXPECT_TRUE(schedule_rounds(1, 0).empty());
}

}  // namespace

}  // namespace omx::tools
