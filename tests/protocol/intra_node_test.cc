// SPDX-License-Identifier: BSD-3-Clause
// Peers on the same host: their own frame size and threshold, and data that are read instead of pulled.
#include "protocol/direct.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

constexpr std::uint32_t kIntraNodeFrame = 20'000;

// Endpoints of one host. One of them can read the other's memory if `readable`.
class FakeReader final : public DirectReader {
 public:
  IntraNodePath path(NicId nic, std::uint8_t) const override {
    return nic == far ? IntraNodePath{} : IntraNodePath{kIntraNodeFrame, 3, threshold};
  }
  bool read(NicId, std::uint8_t, std::uint8_t region, std::uint8_t generation, std::uint64_t offset,
            std::span<const Segment> to, std::uint64_t length) override {
    reads++;
    if (!readable) return false;
    const auto from = (*sender)->region(region, generation).pieces;
    if (to.size() != 1 || from.size() != 1) return false;
    std::memcpy(to[0].base, from[0].base + offset, length);
    return true;
  }
  bool unread(NicId, std::uint8_t) const override { return waits; }
  void wake_reader(NicId, std::uint8_t) override { wakes++; }
  void region_ended(std::uint16_t) override { ended++; }
  bool waits = false;  // messages to the other are held
  NicId far = 0;
  std::uint32_t threshold = 10'000;
  bool readable = false;
  Host* sender = nullptr;
  int reads = 0, ended = 0, wakes = 0;
};

class IntraNodeTest : public PairTest {
 protected:
  IntraNodeTest() {
    network.intra_node_frame = kIntraNodeFrame;
    network.faults.drop = [this](const Bytes& frame) {
      if (type_of(frame) == wire::PacketType::probe) probes++;
      if (type_of(frame) == wire::PacketType::rndv) rndvs++;
      largest = std::max(largest, frame.size());
      return false;
    };
  }
  static Config intra_node_config(FakeReader& reader) {
    Config config;
    config.direct = &reader;
    return config;
  }
  void open_intra_node() {
    open(intra_node_config(of_a), intra_node_config(of_b));
    of_b.sender = a;
  }
  FakeReader of_a, of_b;
  std::size_t largest = 0;
  int probes = 0, rndvs = 0;
};

TEST_F(IntraNodeTest, frames__are_as_large_as_the_way_allows_at_once) {
  open_intra_node();
  exchange(*a, to_b, *b, 9'000);
  EXPECT_GT(largest, 9'000U) << "one frame";
  exchange(*a, to_b, *b, 500'000);
  EXPECT_GT(largest, kIntraNodeFrame - 100);
  EXPECT_LE(largest, kIntraNodeFrame);
  EXPECT_EQ(probes, 0);
}

TEST_F(IntraNodeTest, frames__only_as_large_as_the_other_end_says) {
  Config other = intra_node_config(of_b);
  of_b.far = 0x020000000001;  // for b, a is not on the same host
  open(intra_node_config(of_a), other);
  exchange(*a, to_b, *b, 500'000);
  exchange(*b, to_a, *a, 500'000);
  EXPECT_LE(largest, 1514U);
}

TEST_F(IntraNodeTest, frames__do_not_follow_the_mtu) {
  open_intra_node();
  (*a)->set_mtu(network.now, 600);
  (*b)->set_mtu(network.now, 600);
  exchange(*a, to_b, *b, 500'000);
  EXPECT_GT(largest, kIntraNodeFrame - 100);
}

TEST_F(IntraNodeTest, frames__stay_large_after_a_long_silence) {
  open_intra_node();
  Bytes& out = message(300'000);
  Bytes& in = room(300'000);
  b->paused = true;
  Request* s = send(*a, to_b, out, 1);
  network.run_for(5 * kSecond);
  b->paused = false;
  Request* r = receive(*b, in, 1);
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
  EXPECT_EQ(in, out);
  EXPECT_EQ(a->counters[Counter::mtu_fallback] + b->counters[Counter::mtu_fallback], 0U);
}

TEST_F(IntraNodeTest, counted__messages_inside_the_host) {
  open_intra_node();
  exchange(*a, to_b, *b, 300'000);
  exchange(*a, to_b, *b, 100);
  EXPECT_EQ(a->counters[Counter::messages_sent_local], 2U);
  EXPECT_EQ(a->counters[Counter::bytes_sent_local], 300'100U);
  EXPECT_EQ(b->counters[Counter::messages_received_local], 2U);
  EXPECT_EQ(b->counters[Counter::bytes_received_local], 300'100U);
  EXPECT_EQ(a->counters[Counter::messages_sent_bulk] + b->counters[Counter::messages_received_bulk], 0U);
}

TEST_F(IntraNodeTest, counted__a_peer_elsewhere_is_not_inside) {
  of_a.far = 0x020000000002;  // for a, b is not on the same host
  open_intra_node();
  exchange(*a, to_b, *b, 100);
  EXPECT_EQ(a->counters[Counter::messages_sent_local], 0U);
  EXPECT_EQ(a->counters[Counter::messages_sent], 1U);
}

TEST_F(IntraNodeTest, unread__is_not_sent_again) {
  of_a.waits = of_b.waits = true;
  open_intra_node();
  Bytes& out = message(300'000);
  Bytes& in = room(300'000);
  Request* r = receive(*b, in, 1);
  b->paused = true;
  Request* s = send(*a, to_b, out, 1);
  send(*a, to_b, message(9'000), 2);
  network.run_for(kSecond);
  EXPECT_EQ(a->counters[Counter::resend_timeout], 0U);
  EXPECT_GT(of_a.wakes, 0) << "its wake-up may have been lost";
  b->paused = false;
  a->paused = true;
  network.run_for(kSecond);
  EXPECT_EQ(b->counters[Counter::pull_rerequest_timer], 0U);
  EXPECT_GT(of_b.wakes, 0);
  a->paused = false;
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
}

TEST_F(IntraNodeTest, unread__what_was_read_and_not_answered_is_sent_again) {
  open_intra_node();
  network.faults.loss = 1;
  Request* s = send(*a, to_b, message(300'000), 1);
  of_a.waits = true;
  network.run_for(kSecond);
  EXPECT_EQ(a->counters[Counter::resend_timeout], 0U);
  of_a.waits = false;
  network.faults.loss = 0;
  Bytes& in = room(300'000);
  EXPECT_EQ(wait(*b, receive(*b, in, 1)).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
}

// A process that is stopped for good does not hold up a peer indefinitely.
TEST_F(IntraNodeTest, unread__ends_with_the_peer_timeout) {
  of_a.waits = true;
  open_intra_node();
  b->paused = true;
  (*a)->set_timeout(nullptr, 2 * kSecond);
  Request* s = send(*a, to_b, message(300'000), 1);
  EXPECT_EQ(wait(*a, s).status, Status::endpoint_unreachable);
}

TEST_F(IntraNodeTest, requests__ask_for_no_more_frames_than_the_way_takes) {
  open_intra_node();
  exchange(*a, to_b, *b, 2'000'000);
  const auto requests = b->counters[Counter::send_pull_request];
  EXPECT_GE(requests, 2'000'000U / (3 * kIntraNodeFrame));
  EXPECT_LE(requests, 2'000'000U / (2 * kIntraNodeFrame));
}

TEST_F(IntraNodeTest, threshold__is_the_way_s_own) {
  of_a.threshold = 300'000;
  open_intra_node();
  EXPECT_EQ((*a)->eager_max(to_b), 300'000U);
  EXPECT_EQ((*b)->eager_max(to_a), 10'000U);
  exchange(*a, to_b, *b, 300'000);
  EXPECT_EQ(rndvs, 0);
  exchange(*a, to_b, *b, 300'001);
  EXPECT_EQ(rndvs, 1);
  EXPECT_EQ(of_b.reads, 1);
}

TEST_F(IntraNodeTest, threshold__far_peers_keep_theirs) {
  of_a.far = 0x020000000002;
  open(intra_node_config(of_a), {});
  EXPECT_EQ((*a)->eager_max(to_b), 32768U);
}

TEST_F(IntraNodeTest, read__takes_the_place_of_a_pull) {
  of_b.readable = true;
  open_intra_node();
  exchange(*a, to_b, *b, 500'000);
  EXPECT_EQ(of_b.reads, 1);
  EXPECT_EQ(b->counters[Counter::send_pull_request], 0U);
}

TEST_F(IntraNodeTest, read__that_fails_is_followed_by_a_pull) {
  open_intra_node();
  exchange(*a, to_b, *b, 500'000);
  EXPECT_EQ(of_b.reads, 1);
  EXPECT_GT(b->counters[Counter::send_pull_request], 0U);
}

// A later read of the memory must find out that it no longer belongs to the message.
TEST_F(IntraNodeTest, regions__end_with_their_send) {
  open_intra_node();
  of_b.readable = true;
  exchange(*a, to_b, *b, 100'000);
  EXPECT_EQ(of_a.ended, 1);
  Request* s = send(*a, to_b, message(100'000), 5);
  network.run_for(kMillisecond);
  ASSERT_FALSE((*a)->done(s));
  EXPECT_EQ(of_a.ended, 1);
  (*a)->disconnect(network.now, to_b);
  EXPECT_TRUE((*a)->done(s));
  EXPECT_EQ(of_a.ended, 2);
}

}  // namespace
}  // namespace omx::protocol::test
