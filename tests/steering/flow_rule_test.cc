// SPDX-License-Identifier: BSD-3-Clause
#include "steering/flow_rule.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>

#include "tests/support/fake_flows.h"

namespace omx::steering {
namespace {

TEST(flow_rule, name_and_back) {
  for (const char* name : {"udp4:27201:3@1023", "udp6:65535:0@any", "udp4:0:4294967295@0"}) {
    const auto rule = flow_parse(name);
    ASSERT_TRUE(rule) << name;
    EXPECT_EQ(flow_name(*rule), name);
  }
  for (const char* name : {"", "udp4", "udp5:1:1@1", "udp4:65536:1@1", "udp4:1:1@", "udp4:1:1@4294967295",
                           "udp4:1:1@1 ", "udp4:1:x@1", "udp4:1:4294967296@1", "tcp4:1:1@1"})
    EXPECT_FALSE(flow_parse(name)) << name;
}

// Compares the bytes that a driver gets: struct ethtool_rxnfc.
TEST(flow_insert, as_ethtool_does) {
  FakeFlows nic;
  nic.places = 8;
  ASSERT_EQ(flow_insert(nic.call(), {false, 27201, 3, 5}), 0);
  ASSERT_EQ(flow_insert(nic.call(), {true, 27457, 2, 6}), 0);
  const ethtool_rx_flow_spec& four = nic.rules.at(5);
  EXPECT_EQ(four.flow_type, static_cast<std::uint32_t>(UDP_V4_FLOW));
  EXPECT_EQ(ntohs(four.h_u.udp_ip4_spec.pdst), 27201);
  EXPECT_EQ(four.m_u.udp_ip4_spec.pdst, 0xffff);
  EXPECT_EQ(four.m_u.udp_ip4_spec.psrc, 0);
  EXPECT_EQ(four.ring_cookie, 3U);
  const ethtool_rx_flow_spec& six = nic.rules.at(6);
  EXPECT_EQ(six.flow_type, static_cast<std::uint32_t>(UDP_V6_FLOW));
  EXPECT_EQ(ntohs(six.h_u.udp_ip6_spec.pdst), 27457);
  EXPECT_EQ(six.m_u.udp_ip6_spec.pdst, 0xffff);
}

TEST(flow_table_read, ours_and_those_of_other_kinds) {
  FakeFlows nic;
  nic.places = 8;
  nic.extends = true;
  ASSERT_EQ(flow_insert(nic.call(), {false, 27201, 3, 5}), 0);
  ethtool_rx_flow_spec spec = nic.rules.at(5);
  spec.h_u.udp_ip4_spec.psrc = htons(9);  // does not count without a mask
  nic.rules[5] = spec;
  spec.m_u.udp_ip4_spec.psrc = 0xffff;
  nic.rules[0] = spec;
  spec = nic.rules.at(5);
  spec.ring_cookie = RX_CLS_FLOW_DISC;
  nic.rules[1] = spec;
  spec = nic.rules.at(5);
  spec.m_ext.vlan_tci = 0xffff;
  nic.rules[2] = spec;
  spec = nic.rules.at(5);
  spec.flow_type = TCP_V4_FLOW;
  nic.rules[3] = spec;
  spec = nic.rules.at(5);
  spec.flow_type |= FLOW_RSS;  // to several queues
  nic.rules[4] = spec;
  const auto table = flow_table_read(nic.call());
  ASSERT_TRUE(table);
  EXPECT_EQ(table->places, 8U);
  EXPECT_FALSE(table->nic_chooses);
  ASSERT_EQ(table->taken.size(), 6U);
  for (const FlowPlace& at : table->taken) EXPECT_EQ(at.rule.has_value(), at.place == 5) << at.place;
  EXPECT_EQ(flow_name(*table->taken.back().rule), "udp4:27201:3@5");
  EXPECT_EQ(flow_place_read(nic.call(), 7).error(), ENOENT);
}

TEST(flow_table_read, none) {
  FakeFlows nic;
  EXPECT_EQ(flow_table_read(nic.call()).error(), EOPNOTSUPP);
}

}  // namespace
}  // namespace omx::steering
