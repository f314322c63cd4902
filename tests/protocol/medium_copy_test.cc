// SPDX-License-Identifier: BSD-3-Clause
// Medium messages whose fragments an Offload copies (offload.h).
#include "tests/protocol/slow_copies.h"

namespace omx::protocol::test {
namespace {

constexpr std::size_t kMedium = 30'000;

class medium_copy : public SlowCopiesTest {
 protected:
  medium_copy() : SlowCopiesTest(kMedium) {}
  void SetUp() override {
    SlowCopiesTest::SetUp();
    fragment = (*b)->find_peer((*a)->config().nic, 0)->agreed.sizes.medium_frag;
    ASSERT_GT(kMedium, 3 * fragment);
  }

  std::size_t fragment = 0;
};

TEST_F(medium_copy, fragments_but_the_last__are_handed_over_and_awaited) {
  begin();
  EXPECT_EQ(wait(*b, receiving).status, Status::success);
  EXPECT_EQ(*in, *out);
  EXPECT_EQ(copies.medium, (kMedium - 1) / fragment);
  EXPECT_EQ(copies.drained, 1U);
  EXPECT_EQ(b->counters[Counter::medium_copy_offloaded], copies.medium);
  EXPECT_EQ(b->counters[Counter::pull_copy_offloaded], 0U);
  EXPECT_TRUE(copies.ends.empty()) << "their sizes are not tuned";
  wait(*a, sending);
}

TEST_F(medium_copy, fast__waits_for_nothing) {
  copies.fast = true;
  exchange(*a, to_b, *b, kMedium);
  EXPECT_EQ(copies.drained, 0U);
}

TEST_F(medium_copy, refused_or_made_at_once__waits_for_nothing) {
  for (const auto answer : {Offload::Answer::refused, Offload::Answer::copied}) {
    copies.answer = answer;
    exchange(*a, to_b, *b, kMedium);
  }
  EXPECT_EQ(copies.drained, 0U);
  EXPECT_EQ(b->counters[Counter::medium_copy_offloaded], 0U);
}

TEST_F(medium_copy, lost_copy__fails_its_message_only) {
  copies.lost = 2;
  begin();
  EXPECT_EQ(wait(*b, receiving).status, Status::aborted);
  wait(*a, sending);
  copies.answer = Offload::Answer::copied;
  exchange(*a, to_b, *b, kMedium);
}

// A message without a receive lands in memory of our own, from which it is copied later.
TEST_F(medium_copy, unexpected__is_not_handed_over) {
  out = &message(kMedium);
  sending = send(*a, to_b, *out, 1);
  network.run_for(10 * kMillisecond);
  in = &room(kMedium);
  EXPECT_EQ(wait(*b, receive(*b, *in, 1)).status, Status::success);
  EXPECT_EQ(*in, *out);
  EXPECT_EQ(copies.medium, 0U);
  wait(*a, sending);
}

// Frames of a message that comes before its turn are kept as copies, which are freed as soon as they are
// processed.
TEST_F(medium_copy, message_before_its_turn__is_copied_by_the_processor) {
  network.faults.drop = [n = 0](const Bytes& frame) mutable {
    return type_of(frame) == wire::PacketType::medium && ++n == 1;
  };
  begin();
  Bytes& second = message(kMedium);
  Bytes& second_room = room(kMedium);
  Request* const second_receiving = receive(*b, second_room, 2);
  Request* const second_sending = send(*a, to_b, second, 2);
  EXPECT_EQ(wait(*b, second_receiving).status, Status::success);
  EXPECT_EQ(wait(*b, receiving).status, Status::success);
  EXPECT_EQ(*in, *out);
  EXPECT_EQ(second_room, second);
  EXPECT_EQ(copies.medium, (kMedium - 1) / fragment) << "of the first message";
  wait(*a, sending);
  wait(*a, second_sending);
}

// An application that learns of a failure may use the memory at once.
TEST_F(medium_copy, sender_dies__copies_are_over_before_the_failure_is_told) {
  network.faults.drop = [n = 0](const Bytes& frame) mutable {
    return type_of(frame) == wire::PacketType::medium && ++n > 2;
  };
  begin();
  EXPECT_TRUE(network.run_until([&] { return copies.submitted == 2; }, kSecond));
  EXPECT_FALSE(copies.waiting.empty());
  (*b)->peer_gone(network.now, (*a)->config().nic, 0);
  EXPECT_TRUE((*b)->done(receiving));
  EXPECT_TRUE(copies.waiting.empty());
  EXPECT_NE(wait(*b, receiving).status, Status::success);
}

TEST_F(medium_copy, closing__waits_for_copies) {
  network.faults.drop = [n = 0](const Bytes& frame) mutable {
    return type_of(frame) == wire::PacketType::medium && ++n > 2;
  };
  begin();
  EXPECT_TRUE(network.run_until([&] { return copies.submitted == 2; }, kSecond));
  b->endpoint.reset();
  EXPECT_TRUE(copies.waiting.empty());
  network.hosts.pop_back();
}

TEST_F(medium_copy, faults__each_byte_in_its_place) {
  network.faults.loss = 0.02;
  network.faults.duplicate = 0.05;
  network.faults.reorder = 0.1;
  for (int i = 0; i < 50; i++) exchange(*a, to_b, *b, kMedium - static_cast<std::size_t>(i));
}

}  // namespace
}  // namespace omx::protocol::test
