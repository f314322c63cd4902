// SPDX-License-Identifier: BSD-3-Clause
// GSO batches: proven before they are relied on, given up when they are lost.
#include "tests/protocol/bulk_fixture.h"

namespace omx::protocol::test {
namespace {

// NICs that announce segmentation and cannot do it. Single datagrams arrive, so a single probe would too.
TEST_F(BulkTest, no_batches__large_messages_go_by_the_link) {
  network.faults.no_batches = true;
  open_bulk_paths();
  for (int i = 0; i < 20; i++) {
    for (const std::size_t length : {20000, 50000, 1000000}) exchange(*a, to_b, *b, length);
    network.run_for(20 * kMillisecond);
  }
  EXPECT_FALSE(to_b->bulk.out);
  EXPECT_EQ(a->counters[Counter::send_pull_reply_bulk], 0U);
  EXPECT_EQ(b->counters[Counter::pull_rerequest_timer] + b->counters[Counter::pull_rerequest_gap], 0U);
  EXPECT_EQ(a->counters[Counter::batches_refused], 1U) << "said once";
  int told = 0;
  while (const auto news = (*a)->news_take()) told += news->kind == PeerNews::Kind::no_batches;
  EXPECT_EQ(told, 1);
}

TEST_F(BulkTest, no_batches__later__what_is_lost_goes_singly) {
  open_bulk_paths();
  make_known();
  network.faults.no_batches = true;
  const TimeNs began = network.now;
  for (int i = 0; i < 10; i++) exchange(*a, to_b, *b, 1000000);
  EXPECT_LT(network.now - began, kSecond);
  EXPECT_FALSE(to_b->bulk.out && to_a->bulk.in);
}

// All frames go by UDP.
class UdpGsoBatchTest : public BulkTest {
 protected:
  static Config by_udp(std::uint8_t host) {
    Config config = with_bulk(host);
    config.bulk.at_nic = true;
    config.bulk.fragments = false;
    return config;
  }
  void open_by_udp() {
    open(by_udp(1), by_udp(2));
    // The address of a bulk path belongs to the NIC id here, but the network of these tests has NIC ids of
    // its own.
    to_a->bulk.address = by_udp(1).bulk.address;
    to_b->bulk.address = by_udp(2).bulk.address;
    ASSERT_TRUE((*a)->state().bulk.owners.add(*to_b));
    ASSERT_TRUE((*b)->state().bulk.owners.add(*to_a));
  }
};

TEST_F(UdpGsoBatchTest, works__batches_after_the_proof) {
  open_by_udp();
  exchange(*a, to_b, *b, 20000);
  EXPECT_LE(a->batches, 2U) << "two probes, and nothing else before they are answered";
  network.run_for(kMillisecond);
  EXPECT_TRUE(to_b->bulk.out);
  exchange(*a, to_b, *b, 20000);
  EXPECT_GT(a->batches, 10U);
}

TEST_F(UdpGsoBatchTest, no_bulk__batches_without_a_proof) {
  Config first, second;
  first.bulk.at_nic = second.bulk.at_nic = true;
  open(first, second);
  exchange(*a, to_b, *b, 20000);
  EXPECT_GT(a->batches, 10U);
}

TEST_F(UdpGsoBatchTest, no_batches__all_arrives_singly) {
  network.faults.no_batches = true;
  open_by_udp();
  const TimeNs began = network.now;
  for (const std::size_t length : {100, 5000, 20000, 50000, 1000000}) {
    exchange(*a, to_b, *b, length);
    exchange(*b, to_a, *a, length);
  }
  EXPECT_LT(network.now - began, 200 * kMillisecond);
  EXPECT_FALSE(to_b->bulk.out || to_a->bulk.out);
  EXPECT_EQ(a->counters[Counter::resend_timeout] + b->counters[Counter::resend_timeout], 0U);
}

TEST_F(UdpGsoBatchTest, no_batches__later__recovers) {
  open_by_udp();
  for (int i = 0; i < 3; i++) exchange(*a, to_b, *b, 1000000);
  ASSERT_TRUE(to_b->bulk.out);
  network.faults.no_batches = true;
  const TimeNs began = network.now;
  for (int i = 0; i < 20; i++) exchange(*a, to_b, *b, 20000);
  for (int i = 0; i < 5; i++) exchange(*a, to_b, *b, 1000000);
  EXPECT_LT(network.now - began, kSecond);
  EXPECT_FALSE(to_b->bulk.out);
}

}  // namespace
}  // namespace omx::protocol::test
