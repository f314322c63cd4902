// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "wire/names.h"

namespace omx::wire {
namespace {

TEST(names, packet_type_name__each_type_has_its_own) {
  std::set<std::string> names;
  for (int type = 0; type < 256; type++) names.insert(packet_type_name(static_cast<PacketType>(type)));
  EXPECT_EQ(names.size(), 18u);  // 15 of MXoE with "none", PROBE, PACK and "unknown"
  EXPECT_STREQ(packet_type_name(PacketType::pull_reply), "PULL_REPLY");
  EXPECT_STREQ(packet_type_name(static_cast<PacketType>(200)), "UNKNOWN");
}

TEST(names, drop_name__each_reason_has_its_own) {
  std::set<std::string> names;
  for (int drop = 0; drop < 256; drop++) names.insert(drop_name(static_cast<Drop>(drop)));
  EXPECT_EQ(names.size(), 7u);
  EXPECT_STREQ(drop_name(Drop::truncated), "truncated");
}

}  // namespace
}  // namespace omx::wire
