// SPDX-License-Identifier: BSD-3-Clause
// Large messages whose data an Offload copies (offload.h).
#include "tests/protocol/slow_copies.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

constexpr std::size_t kLength = 300'000;

class PullCopyTest : public SlowCopiesTest {
 protected:
  PullCopyTest() : SlowCopiesTest(kLength) {}
  void arrive() {
    begin();
    EXPECT_TRUE(network.run_until([&] { return (*b)->copies_awaited(); }, kSecond));
  }
};

TEST_F(PullCopyTest, complete__when_the_last_copy_is) {
  arrive();
  network.run_for(kSecond);
  EXPECT_FALSE((*b)->done(receiving));
  EXPECT_FALSE((*a)->done(sending)) << "the sender's memory is free when the receiver says so";
  while (copies.waiting.size() > 1) copies.make_one();
  (*b)->progress(network.now);
  EXPECT_FALSE((*b)->done(receiving));
  copies.make_one();
  (*b)->progress(network.now);
  EXPECT_TRUE((*b)->done(receiving));
  EXPECT_FALSE((*b)->copies_awaited());
  EXPECT_EQ(wait(*b, receiving).status, Status::success);
  EXPECT_EQ(wait(*a, sending).status, Status::success);
  EXPECT_EQ(*in, *out);
}

TEST_F(PullCopyTest, ended__says_how_long_the_copies_were_waited_for) {
  arrive();
  const TimeNs since = network.now;
  network.run_for(kSecond);
  EXPECT_TRUE(copies.ends.empty());
  copies.drain();
  (*b)->progress(network.now);
  ASSERT_EQ(copies.ends.size(), 1U);
  EXPECT_EQ(copies.ends[0].first, kLength);
  EXPECT_GE(copies.ends[0].second, kSecond);
  EXPECT_LE(copies.ends[0].second, network.now - since + kMillisecond);
}

TEST_F(PullCopyTest, ended__at_once_if_no_copy_ran) {
  copies.fast = true;
  exchange(*a, to_b, *b, kLength);
  ASSERT_EQ(copies.ends.size(), 1U);
  EXPECT_EQ(copies.ends[0].second, 0U);
}

TEST_F(PullCopyTest, last_piece__is_not_handed_over) {
  arrive();
  const std::uint64_t last = (*b)->find_peer((*a)->config().nic, 0)->agreed.sizes.pull_reply_max;
  EXPECT_LT(copies.bytes, kLength);
  EXPECT_GE(copies.bytes, kLength - last);
  EXPECT_EQ(b->counters[Counter::pull_copy_offloaded], copies.submitted);
  EXPECT_TRUE(std::is_sorted(copies.offsets.begin(), copies.offsets.end()));
  copies.drain();
}

TEST_F(PullCopyTest, tended__with_each_request) {
  begin();
  EXPECT_TRUE(network.run_until([&] { return (*b)->copies_awaited(); }, kSecond));
  EXPECT_GE(copies.asked, b->counters[Counter::send_pull_request]);
  copies.drain();
}

TEST_F(PullCopyTest, several_segments__each_gets_its_part) {
  Bytes& from = message(kLength);
  Bytes& one = room(100'001);
  Bytes& two = room(kLength - 100'001);
  const Segment segments[] = {segment(one), segment(two)};
  ReceiveOp op;
  op.segments = segments;
  op.match_info = 1;
  op.match_mask = ~std::uint64_t{0};
  Request* r = (*b)->receive(network.now, op).value();
  Request* s = send(*a, to_b, from, 1);
  EXPECT_TRUE(network.run_until([&] { return (*b)->copies_awaited(); }, kSecond));
  copies.drain();
  (*b)->progress(network.now);
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), from.begin()));
  EXPECT_TRUE(std::equal(two.begin(), two.end(), from.begin() + 100'001));
}

TEST_F(PullCopyTest, refused_or_made_at_once__nobody_waits) {
  for (const auto answer : {Offload::Answer::refused, Offload::Answer::copied}) {
    copies.answer = answer;
    exchange(*a, to_b, *b, kLength);
  }
  EXPECT_EQ(b->counters[Counter::pull_copy_offloaded], 0U);
}

TEST_F(PullCopyTest, lost_copy__fails_its_message_only) {
  arrive();
  copies.lost = 3;
  copies.drain();
  (*b)->progress(network.now);
  EXPECT_EQ(wait(*b, receiving).status, Status::aborted);
  wait(*a, sending);
  copies.answer = Offload::Answer::copied;
  exchange(*a, to_b, *b, kLength);
}

// An application that learns of a failure may use the memory at once.
TEST_F(PullCopyTest, sender_dies__copies_are_over_before_anybody_hears_of_it) {
  network.faults.drop = [n = 0](const Bytes& frame) mutable {
    return type_of(frame) == wire::PacketType::pull_reply && ++n > 10;
  };
  begin();
  EXPECT_TRUE(network.run_until([&] { return copies.submitted >= 8; }, kSecond));
  EXPECT_FALSE(copies.waiting.empty());
  (*b)->peer_gone(network.now, (*a)->config().nic, 0);
  EXPECT_TRUE((*b)->done(receiving));
  EXPECT_TRUE(copies.waiting.empty());
  EXPECT_NE(wait(*b, receiving).status, Status::success);
}

TEST_F(PullCopyTest, closing__waits_for_copies) {
  arrive();
  b->endpoint.reset();
  EXPECT_TRUE(copies.waiting.empty());
  network.hosts.pop_back();
}

TEST_F(PullCopyTest, faults__each_byte_in_its_place) {
  network.faults.loss = 0.02;
  network.faults.duplicate = 0.05;
  network.faults.reorder = 0.1;
  for (int i = 0; i < 20; i++) {
    begin();
    EXPECT_TRUE(network.run_until(
                    [&] {
                      if (network.random.chance(0.3) && !copies.waiting.empty()) copies.make_one();
                      if ((*b)->copies_awaited()) (*b)->progress(network.now);
                      return (*b)->done(receiving);
                    },
                    100 * kSecond) ||
                (copies.drain(), (*b)->progress(network.now), (*b)->done(receiving)));
    EXPECT_EQ(wait(*b, receiving).status, Status::success);
    EXPECT_EQ(*in, *out);
    EXPECT_EQ(wait(*a, sending).status, Status::success);
  }
}

}  // namespace
}  // namespace omx::protocol::test
