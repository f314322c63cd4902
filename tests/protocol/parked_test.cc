// SPDX-License-Identifier: BSD-3-Clause
// Messages for whose data the receiver has no room: their envelopes are kept, and the data stay with the
// sender until a receive matches. So the order in which receives are posted cannot block anything.
#include "protocol/memory_share.h"
#include "protocol/snapshot.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class Parked : public PairTest {
 protected:
  // Opens a pair in which `b` has little room and the sender completes sends early.
  void open_small(std::uint64_t bytes = 64 * 1024, Config at_a = {}) {
    Config small;
    small.buffer_bytes = bytes;
    open(at_a, small);
  }
  Request* inject(Bytes& data, std::uint64_t match) {
    Segment s = segment(data);
    SendOp op;
    op.peer = to_b;
    op.segments = {&s, 1};
    op.match_info = match;
    op.inject = true;
    const auto r = (*a)->send(network.now, op);
    return r ? *r : nullptr;
  }
  // Sends `count` messages of that length, all unexpected, and receives the last one first.
  void last_first(int count, std::size_t length) {
    std::vector<Request*> sends;
    for (int i = 0; i < count; i++)
      sends.push_back(send(*a, to_b, message(length, i), static_cast<std::uint64_t>(i)));
    network.run_for(kSecond);
    for (int i = count - 1; i >= 0; i--) {
      Bytes& in = room(length);
      const Completion c = wait(*b, receive(*b, in, static_cast<std::uint64_t>(i)), 10 * kSecond);
      ASSERT_EQ(c.status, Status::success) << i;
      EXPECT_EQ(in, pattern(i, length)) << i;
    }
    for (Request* r : sends) ASSERT_EQ(wait(*a, r, 10 * kSecond).status, Status::success);
    network.run_for(kSecond);
    EXPECT_EQ((*a)->state().regions.used(), 0U);
    EXPECT_EQ((*a)->state().completion.buffered_sends, 0U);
    EXPECT_EQ((*a)->state().room.parked_bytes, 0U);
    EXPECT_EQ((*b)->state().room.envelopes, 0U);
  }
};

TEST_F(Parked, last__is_received_first) {
  open_small();
  last_first(3000, 1024);
  EXPECT_GT(b->counters[Counter::recv_parked], 100U);
  EXPECT_GT(a->counters[Counter::send_parked], 1000U);
  EXPECT_EQ(a->counters[Counter::resend_timeout], 0U) << "nothing was lost";
}

TEST_F(Parked, sizes__of_every_class) {
  for (const std::size_t length : {0, 20, 100, 5000, 30000, 100000}) {
    network.clear();
    open_small(16 * 1024);
    last_first(600, length);
  }
}

TEST_F(Parked, loss__duplication_and_order_change_nothing) {
  open_small(32 * 1024);
  network.faults.loss = 0.05;
  network.faults.duplicate = 0.05;
  network.faults.reorder = 0.1;
  last_first(400, 3000);
}

TEST_F(Parked, order__is_that_of_sending) {
  open_small(32 * 1024);
  for (int i = 0; i < 200; i++) (void)send(*a, to_b, message(3000, i), 5);
  network.run_for(kSecond);
  for (int i = 0; i < 200; i++) {
    Bytes& in = room(3000);
    ASSERT_EQ(wait(*b, receive(*b, in, 5), kSecond).status, Status::success);
    EXPECT_EQ(in, pattern(i, 3000)) << i;
  }
}

TEST_F(Parked, injected__never_refused_for_their_number) {
  open_small(32 * 1024);
  std::vector<Request*> sends;
  for (int i = 0; i < 5000; i++) {
    Request* r = nullptr;
    Bytes& data = message(1024, i);
    ASSERT_TRUE(network.run_until(
        [&] { return (r = inject(data, static_cast<std::uint64_t>(i))) != nullptr; }, kSecond))
        << i;
    std::fill(data.begin(), data.end(), std::byte{0});  // the memory belongs to the caller again
    sends.push_back(r);
  }
  for (Request* r : sends) EXPECT_EQ(wait(*a, r, kSecond).status, Status::success);
  EXPECT_GT((*a)->state().room.parked_bytes, 4U << 20);
  for (int i = 4999; i >= 0; i--) {
    Bytes& in = room(1024);
    ASSERT_EQ(wait(*b, receive(*b, in, static_cast<std::uint64_t>(i)), kSecond).status, Status::success);
    ASSERT_EQ(in, pattern(i, 1024)) << i;
  }
  network.run_for(kSecond);
  EXPECT_EQ((*a)->state().room.parked_bytes, 0U);
  EXPECT_EQ((*a)->state().completion.buffered_sends, 0U);
}

TEST_F(Parked, regions__more_than_their_numbers) {
  Config few;
  few.regions_most = 256;
  open(few, few);
  last_first(2000, 100000);
}

TEST_F(Parked, probe__shows_it_whole_and_claim_takes_it) {
  open_small(4096);
  for (int i = 0; i < 20; i++) (void)send(*a, to_b, message(2000, i), static_cast<std::uint64_t>(i));
  network.run_for(kSecond);
  ASSERT_GT(b->counters[Counter::recv_parked], 10U);
  const auto arrival = (*b)->probe(19, ~0ULL);
  ASSERT_TRUE(arrival);
  EXPECT_EQ(arrival->msg_length, 2000U);
  EXPECT_TRUE(arrival->whole);
  Unexpected* claimed = (*b)->claim(19, ~0ULL, nullptr, 0);
  ASSERT_NE(claimed, nullptr);
  Bytes& in = room(2000);
  Segment s = segment(in);
  ReceiveOp op;
  op.segments = {&s, 1};
  EXPECT_EQ(wait(*b, (*b)->receive_claimed(network.now, claimed, op).value(), kSecond).status,
            Status::success);
  EXPECT_EQ(in, pattern(19, 2000));
  Unexpected* other = (*b)->claim(18, ~0ULL, nullptr, 0);
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE((*b)->discard(network.now, other));
  network.run_for(kSecond);
  EXPECT_FALSE((*b)->probe(18, ~0ULL));
}

TEST_F(Parked, receive__shorter_than_the_message) {
  open_small(4096);
  for (int i = 0; i < 10; i++) (void)send(*a, to_b, message(2000, i), static_cast<std::uint64_t>(i));
  network.run_for(kSecond);
  Bytes& in = room(100);
  const Completion c = wait(*b, receive(*b, in, 9), kSecond);
  EXPECT_EQ(c.status, Status::truncated);
  EXPECT_EQ(c.msg_length, 2000U);
  EXPECT_EQ(c.xfer_length, 100U);
  Bytes& none = room(0);
  EXPECT_EQ(wait(*b, receive(*b, none, 8), kSecond).status, Status::truncated);
}

TEST_F(Parked, sender__that_dies_takes_its_messages_along) {
  open_small(4096);
  for (int i = 0; i < 50; i++) (void)send(*a, to_b, message(2000, i), static_cast<std::uint64_t>(i));
  network.run_for(kSecond);
  ASSERT_GT((*b)->state().room.envelopes, 10U);
  (*b)->disconnect(network.now, to_a);
  EXPECT_EQ((*b)->state().room.envelopes, 0U);
  network.run_for(5 * kSecond);
  EXPECT_EQ((*a)->state().regions.used(), 0U);
  EXPECT_EQ((*a)->state().room.parked_bytes, 0U);
}

TEST_F(Parked, receiver__that_dies_ends_what_waits) {
  Config quick;
  quick.reliability.peer_timeout = 2 * kSecond;
  quick.buffered_sends_max = 0;  // sends end with the outcome of their messages
  open_small(4096, quick);
  std::vector<Request*> sends;
  for (int i = 0; i < 50; i++)
    sends.push_back(send(*a, to_b, message(2000, i), static_cast<std::uint64_t>(i)));
  network.run_for(kSecond);
  network.faults.drop = [](const Bytes&) { return true; };
  int failed = 0;
  for (Request* r : sends) failed += wait(*a, r, 60 * kSecond).status == Status::endpoint_unreachable;
  EXPECT_GT(failed, 20);
  EXPECT_EQ((*a)->state().regions.used(), 0U);
}

TEST_F(Parked, handler__sees_each_message_once) {
  open_small(4096);
  int seen = 0;
  (*b)->set_unexpected_handler(
      [](void* count, const Arrival&) {
        ++*static_cast<int*>(count);
        return HandlerAction::proceed;
      },
      &seen);
  for (int i = 0; i < 50; i++) (void)send(*a, to_b, message(2000, i), static_cast<std::uint64_t>(i));
  network.run_for(kSecond);
  EXPECT_EQ(seen, 50);
  for (int i = 49; i >= 0; i--) {
    Bytes& in = room(2000);
    ASSERT_EQ(wait(*b, receive(*b, in, static_cast<std::uint64_t>(i)), kSecond).status, Status::success);
    EXPECT_EQ(in, pattern(i, 2000));
  }
}

TEST_F(Parked, old_copy__does_not_end_what_was_asked_for_as_envelope) {
  open_small(4096);
  for (int i = 0; i < 3; i++) (void)send(*a, to_b, message(1500, i), static_cast<std::uint64_t>(i));
  // The announcement is lost, and the receiver has room again when another copy of the data comes.
  network.faults.drop = drop_next(wire::PacketType::rndv, 2);
  network.run_until([&] { return a->counters[Counter::send_parked] > 0; }, kSecond);
  ASSERT_GT(a->counters[Counter::send_parked], 0U);
  Bytes& first = room(1500);
  EXPECT_EQ(wait(*b, receive(*b, first, 0), kSecond).status, Status::success);
  for (int i = 2; i > 0; i--) {
    Bytes& in = room(1500);
    ASSERT_EQ(wait(*b, receive(*b, in, static_cast<std::uint64_t>(i)), kSecond).status, Status::success);
    EXPECT_EQ(in, pattern(i, 1500));
  }
  network.run_for(kSecond);
  EXPECT_EQ((*a)->state().regions.used(), 0U);
}

TEST_F(Parked, legacy_peers__are_refused_as_ever) {
  Config plain;
  plain.extension = false;
  open_small(8192, plain);
  for (int i = 0; i < 50; i++) (void)send(*a, to_b, message(2000, i), 1);
  network.run_for(kSecond);
  EXPECT_GT(b->counters[Counter::back_pressure], 0U);
  EXPECT_EQ(b->counters[Counter::recv_parked], 0U);
  for (int i = 0; i < 50; i++)
    ASSERT_EQ(wait(*b, receive(*b, room(2000), 1), 60 * kSecond).status, Status::success);
  EXPECT_EQ(a->counters[Counter::send_parked], 0U);
}

TEST_F(Parked, mxoe_mode__never_parks) {
  Config mxoe;
  mxoe.mode = wire::Mode::mxoe;
  mxoe.buffer_bytes = 8192;
  open(mxoe, mxoe);
  for (int i = 0; i < 50; i++) (void)send(*a, to_b, message(2000, i), 1);
  network.run_for(kSecond);
  EXPECT_EQ(b->counters[Counter::recv_parked], 0U);
  for (int i = 0; i < 50; i++)
    ASSERT_EQ(wait(*b, receive(*b, room(2000), 1), 60 * kSecond).status, Status::success);
}

TEST_F(Parked, room_again__data_come_with_their_messages) {
  open_small(32 * 1024);
  for (int i = 0; i < 300; i++) (void)send(*a, to_b, message(1000, i), 1);
  network.run_for(kSecond);
  for (int i = 0; i < 300; i++)
    ASSERT_EQ(wait(*b, receive(*b, room(1000), 1), kSecond).status, Status::success);
  for (int i = 0; i < 3000; i++) exchange(*a, to_b, *b, 1000);
  const std::uint64_t before = a->counters[Counter::send_rndv];
  for (int i = 0; i < 100; i++) exchange(*a, to_b, *b, 1000);
  EXPECT_EQ(a->counters[Counter::send_rndv], before);
}

// The memory that a host grants its processes.
class Share final : public MemoryShare {
 public:
  explicit Share(std::size_t bytes) : left(bytes) {}
  bool take(std::size_t bytes) override {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  }
  void give(std::size_t bytes) override { left += bytes; }
  std::size_t available() const override { return left; }
  std::size_t left;
};

TEST_F(Parked, share__is_taken_and_given_back) {
  constexpr std::size_t kAll = 64U << 20;
  Share share(kAll);
  Config at_b;
  at_b.buffer_bytes = 1U << 20;
  at_b.share = &share;
  open({}, at_b);
  for (int i = 0; i < 3000; i++) (void)send(*a, to_b, message(8000, i), static_cast<std::uint64_t>(i));
  network.run_for(kSecond);
  EXPECT_EQ(b->counters[Counter::recv_parked], 0U);
  EXPECT_LT(share.left, kAll - (20U << 20));
  for (int i = 2999; i >= 0; i--)
    ASSERT_EQ(wait(*b, receive(*b, room(8000), static_cast<std::uint64_t>(i)), kSecond).status,
              Status::success);
  EXPECT_EQ(share.left, kAll);
  network.clear();
}

TEST_F(Parked, share__used_up_begins_parking_and_says_so) {
  Share share(4U << 20);
  Config at_b;
  at_b.buffer_bytes = 1U << 20;
  at_b.share = &share;
  open({}, at_b);
  for (int i = 0; i < 2000; i++) (void)send(*a, to_b, message(8000, i), static_cast<std::uint64_t>(i));
  network.run_for(kSecond);
  EXPECT_GT(b->counters[Counter::recv_parked], 0U);
  const HeldUp held = (*b)->held_up_take();
  EXPECT_EQ(held.peer, to_a);
  EXPECT_EQ(held.what, HeldUp::What::data);
  EXPECT_GT(held.bound, 1U << 20);
  EXPECT_EQ((*b)->held_up_take().what, HeldUp::What::nothing) << "it is told once";
  for (int i = 1999; i >= 0; i--)
    ASSERT_EQ(wait(*b, receive(*b, room(8000), static_cast<std::uint64_t>(i)), kSecond).status,
              Status::success);
  network.clear();
}

}  // namespace
}  // namespace omx::protocol::test
