// SPDX-License-Identifier: BSD-3-Clause
// The memory of idle peers, with their part of all tables.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

static_assert(sizeof(Peer) <= 496, "a large job has many idle peers");

class PeerMemoryTest : public PairTest {};

// The most bytes of an idle peer.
constexpr std::size_t kIdlePeer = 512;

TEST_F(PeerMemoryTest, memory__of_an_idle_peer) {
  a = &network.add({});
  (*a)->set_timeout(nullptr, 2 * kSecond);
  const std::size_t before = (*a)->memory().peers;
  for (std::uint64_t i = 0; i < 1600; i++)
    (void)(*a)->connect(network.now, 0x5000 + i, 0, 0, 0, nullptr, true);
  network.run_for(3 * kSecond);
  EXPECT_LE(((*a)->memory().peers - before) / 1600, kIdlePeer);
  const State& s = (*a)->state();
  EXPECT_EQ(s.memory.requests.live(), 0U);
  EXPECT_EQ((*a)->next_deadline(), kNever);
  EXPECT_GE(s.timers.bytes(), 1600U * 16) << "all ran at a time";
  EXPECT_GE((*a)->memory().requests, s.memory.requests.bytes() + s.timers.bytes());
}

// Tables grow in steps. At no number of peers may they cost too much. All peers have a bulk path.
TEST_F(PeerMemoryTest, memory__of_an_idle_peer_at_any_number_of_them) {
  a = &network.add({});
  for (std::uint64_t i = 0; i < 5000; i++) {
    (void)(*a)->connect(network.now, 0x5000 + i, 0, 0, 0, nullptr, true);
    Peer* const p = (*a)->find_peer(0x5000 + i, 0);
    p->bulk.address = with_bulk(static_cast<std::uint8_t>(i)).bulk.address;
    p->bulk.address.ip[14] = static_cast<std::uint8_t>(i >> 8);
    ASSERT_TRUE((*a)->state().bulk.owners.add(*p));
    const std::size_t peers = (*a)->peer_count();
    // The last chunk of peers may be empty but for one.
    if (peers > 200) {
      ASSERT_LE((*a)->memory().peers, peers * kIdlePeer + 15 * sizeof(Peer)) << peers;
    }
  }
}

// A peer returns what it needed only while messages were under way.
TEST_F(PeerMemoryTest, memory__of_an_idle_peer_after_messages_of_all_sizes) {
  constexpr std::uint8_t kPeers = 200;
  a = &network.add(with_bulk(0));
  const std::size_t before = (*a)->memory().peers;
  for (std::uint8_t i = 0; i < kPeers; i++) {
    b = &network.add(with_bulk(i + 1));
    to_b = connect(network, *a, *b);
    ASSERT_NE(to_b, nullptr);
    to_a = connect(network, *b, *a);
    ASSERT_NE(to_a, nullptr);
    for (const std::size_t length : {8, 20'000, 256 * 1024}) {
      exchange(*a, to_b, *b, length);
      exchange(*b, to_a, *a, length);
    }
  }
  network.run_for(3 * kSecond);
  const State& s = (*a)->state();
  EXPECT_EQ(s.bulk.owners.size(), kPeers);
  EXPECT_EQ(s.memory.partials.live(), 0U);
  EXPECT_EQ(s.memory.peer_pulls.live(), 0U);
  // The chunks of the pools remain, for all peers together.
  const std::size_t pools = s.memory.partials.bytes() + s.memory.peer_pulls.bytes();
  EXPECT_LE(pools, 4096U);
  EXPECT_LE(((*a)->memory().peers - before - pools) / kPeers, kIdlePeer);
}

}  // namespace
}  // namespace omx::protocol::test
