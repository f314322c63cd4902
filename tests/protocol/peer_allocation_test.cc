// SPDX-License-Identifier: BSD-3-Clause
// Peers are found, and more can be added, after the system had no memory for one or for a larger table.
#include <gtest/gtest.h>

#include "protocol/endpoint.h"
#include "protocol/state/peers.h"
#include "protocol/state/state.h"
#include "tests/support/allocation_failure.h"

namespace omx::protocol {
namespace {

using runtime::allocation_fail;

class NoCable : public wire::FrameSink {
 public:
  wire::TxFrame& frame_begin(std::uint32_t) override { return frame_; }
  void frame_commit() override {}
  void flush() override {}

 private:
  wire::TxFrame frame_;
};

class PeerAllocation : public testing::TestWithParam<int> {};

TEST_P(PeerAllocation, no_failure_loses_a_peer) {
  constexpr NicId kPeers = 3000;
  NoCable cable;
  Counters counters{};
  Config config;
  config.session = config.nic = 1;
  Endpoint endpoint(config, cable, counters);
  State& s = endpoint.state();
  std::uint32_t failures = 0, refused = 0;
  for (NicId nic = 2; nic < 2 + kPeers; nic++) {
    const auto index = static_cast<std::uint32_t>(s.peers.by_index.size());
    allocation_fail(GetParam());
    Peer* p = peer_create(s, nic, 0);
    failures += allocation_fail(-1);
    if (!p) {
      refused++;
      ASSERT_EQ(s.peers.by_index.size(), index);
      ASSERT_EQ(peer_find(s, nic, 0), nullptr);
      p = peer_create(s, nic, 0);
    }
    ASSERT_NE(p, nullptr);
    ASSERT_EQ(p->index, index);
    ASSERT_EQ(s.peers.by_index[index], p);
    ASSERT_EQ(peer_find(s, nic, 0), p);
  }
  // A sanitizer has its own `new` for the chunks themselves, but not for the table of them.
  if (GetParam() == 0) {
    EXPECT_GT(refused, 0U) << "for want of a chunk";
  }
  EXPECT_GT(failures, refused) << "the hash table did not grow, and the peer was added";
  for (NicId nic = 2; nic < 2 + kPeers; nic++) {
    const Peer* const p = peer_find(s, nic, 0);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(p->nic, nic);
  }
}

// The first allocation that adding a peer makes fails, or the second one.
INSTANTIATE_TEST_SUITE_P(All, PeerAllocation, testing::Values(0, 1));

}  // namespace
}  // namespace omx::protocol
