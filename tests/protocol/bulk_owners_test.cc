// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/bulk_owners.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "protocol/state/peer_table.h"

namespace omx::protocol {
namespace {

wire::BulkAddress address_of(std::uint32_t host, std::uint16_t port) {
  wire::BulkAddress a;
  a.ip = {0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0xFF,
          0xFF,
          10,
          0,
          static_cast<std::uint8_t>(host >> 8),
          static_cast<std::uint8_t>(host)};
  a.port = port;
  a.frame = 1472;
  return a;
}

class BulkOwnersTest : public testing::Test {
 protected:
  Peer& peer() {
    const auto index = static_cast<std::uint32_t>(peers.size());
    Peer& p = *peers.add();
    p.index = index;
    return p;
  }

  PeerTable peers;
  BulkOwners owners{peers};
};

TEST_F(BulkOwnersTest, none_is_found_in_an_empty_table) {
  Peer& p = peer();
  p.bulk.address = address_of(1, 4000);
  EXPECT_EQ(owners.find(p.bulk.address), nullptr);
  owners.remove(p);
  EXPECT_EQ(owners.size(), 0U);
}

TEST_F(BulkOwnersTest, addresses_differ_by_host_or_port) {
  Peer &first = peer(), &second = peer(), &third = peer();
  first.bulk.address = address_of(1, 4000);
  second.bulk.address = address_of(1, 4001);
  third.bulk.address = address_of(2, 4000);
  for (Peer* p : peers) ASSERT_TRUE(owners.add(*p));
  for (Peer* p : peers) EXPECT_EQ(owners.find(p->bulk.address), p);
  EXPECT_EQ(owners.find(address_of(2, 4001)), nullptr);
}

// A small table is nearly full much of the time, so that entries often wait behind each other, also beyond
// its end.
TEST_F(BulkOwnersTest, finds_what_is_there_after_random_changes) {
  for (const std::uint64_t hosts : {12U, 300U}) {
    Random random(hosts);
    std::map<std::uint64_t, Peer*> expected;
    for (int step = 0; step < 20'000; step++) {
      const std::uint64_t key = random.below(hosts * 2);
      const auto address = address_of(static_cast<std::uint32_t>(key / 2), 4000 + key % 2);
      const auto at = expected.find(key);
      ASSERT_EQ(owners.find(address), at == expected.end() ? nullptr : at->second);
      if (at != expected.end()) {
        Peer& p = *at->second;
        owners.remove(p);
        owners.remove(p);  // it is gone already
        expected.erase(at);
      } else if (expected.size() < hosts) {
        Peer& p = peers.size() < 400 ? peer() : *peers[random.below(peers.size())];
        if (owners.find(p.bulk.address) == &p) continue;
        p.bulk.address = address;
        ASSERT_TRUE(owners.add(p));
        expected[key] = &p;
      }
      ASSERT_EQ(owners.size(), expected.size());
    }
    for (const auto& [key, p] : expected) {
      EXPECT_EQ(owners.find(p->bulk.address), p);
      owners.remove(*p);
    }
    EXPECT_EQ(owners.size(), 0U);
  }
}

}  // namespace
}  // namespace omx::protocol
