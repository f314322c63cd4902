// SPDX-License-Identifier: BSD-3-Clause
// Receives whose memory takes several messages, messages that are claimed, and the ways in which sends
// complete. A libfabric provider needs these beyond MX.
#include <cstring>
#include <set>

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class MultiReceiveTest : public PairTest {
 protected:
  // Returns a receive from any source and of any match information. `s` must outlive it.
  static ReceiveOp into(const Segment& s, std::uint32_t least) {
    ReceiveOp op;
    op.segments = {&s, 1};
    op.match_mask = 0;
    op.multi_receive_least = least;
    return op;
  }
  Request* post(Bytes& memory, std::uint32_t least, std::uint64_t info = 0, std::uint64_t mask = 0) {
    Segment s = segment(memory);
    ReceiveOp op = into(s, least);
    op.match_info = info;
    op.match_mask = mask;
    return (*b)->receive(network.now, op).value();
  }
  // Returns the next completion at b.
  Completion next() {
    network.run_until([&] { return (*b)->peek_done() != nullptr; });
    Request* r = (*b)->peek_done();
    return r ? (*b)->consume(r) : Completion{};
  }
  // Returns whether the message lies at its place as it was sent.
  static bool holds(const Completion& got, const Bytes& sent) {
    return got.xfer_length == sent.size() && std::memcmp(got.place, sent.data(), sent.size()) == 0;
  }
};

TEST_F(MultiReceiveTest, messages_lie_one_behind_the_other_until_too_little_is_left) {
  open();
  Bytes& memory = room(100'000);
  (void)post(memory, 1000);
  std::vector<Bytes*> sent;
  for (std::uint64_t i = 0; i < 3; i++) sent.push_back(&message(i == 1 ? 60'000 : 19'600, i));
  for (Bytes* m : sent) (void)send(*a, to_b, *m, 7);
  std::set<std::byte*> places;
  for (int i = 0; i < 3; i++) {
    const Completion c = next();
    EXPECT_EQ(c.status, Status::success);
    EXPECT_TRUE(places.insert(c.place).second);
    const auto offset = static_cast<std::size_t>(c.place - memory.data());
    EXPECT_TRUE(holds(c, *sent[offset == 0 ? 0 : offset == 19'600 ? 1 : 2])) << offset;
    // 800 bytes are left after the third message. The message that ends last releases the memory.
    EXPECT_EQ(c.released, i == 2);
  }
  EXPECT_EQ((*b)->peek_done(), nullptr);
}

TEST_F(MultiReceiveTest, takes_what_waits_already_and_keeps_its_place_before_later_receives) {
  open();
  for (std::uint64_t i = 0; i < 3; i++) (void)send(*a, to_b, message(100, i), i);
  network.run_until([&] { return (*b)->probe(2, ~0ULL).has_value(); });
  (void)post(room(1000), 100);
  Request* later = receive(*b, room(100), 0, 0);
  for (int i = 0; i < 3; i++) EXPECT_EQ(next().match_info, static_cast<unsigned>(i));
  for (std::uint64_t i = 3; i < 10; i++) (void)send(*a, to_b, message(100, i), i);
  for (std::uint64_t i = 3; i < 10; i++) {
    const Completion c = next();
    EXPECT_EQ(c.match_info, i);
    EXPECT_EQ(c.released, i == 9);
  }
  EXPECT_FALSE((*b)->done(later));
}

// The receive is watched as any other receive that names its source, even after it took messages.
TEST_F(MultiReceiveTest, a_source_that_is_given_up_ends_it) {
  Config config;
  config.reliability.peer_timeout = 2 * kSecond;
  open(config, config);
  Bytes& memory = room(10000);
  Segment s = segment(memory);
  ReceiveOp op = into(s, 100);
  op.source = to_a;
  op.awaited = true;
  Request* posted = (*b)->receive(network.now, op).value();
  (void)send(*a, to_b, message(700, 1), 1);
  EXPECT_FALSE(next().released);
  // Half of a message is under way when the cable is cut.
  Bytes& large = message(5000, 2);
  int frames = 0;
  network.faults.drop = [&](const Bytes&) { return frames++ > 0; };
  (void)send(*a, to_b, large, 2);
  std::vector<Completion> ends{next(), next()};
  for (const Completion& c : ends) EXPECT_EQ(c.status, Status::endpoint_unreachable);
  EXPECT_FALSE(ends[0].released);
  EXPECT_TRUE(ends[1].released);
  EXPECT_FALSE((*b)->held(posted));
  network.faults.drop = nullptr;
  // Receives that are posted later end at once.
  op.source_gone = Status::endpoint_unreachable;
  (void)(*b)->receive(network.now, op).value();
  const Completion c = next();
  EXPECT_EQ(c.status, Status::endpoint_unreachable);
  EXPECT_TRUE(c.released);
}

TEST_F(MultiReceiveTest, a_message_longer_than_the_rest_is_truncated) {
  open();
  (void)post(room(1000), 100);
  (void)send(*a, to_b, message(700, 1), 1);
  (void)send(*a, to_b, message(700, 2), 2);
  EXPECT_FALSE(next().released);
  const Completion c = next();
  EXPECT_EQ(c.status, Status::truncated);
  EXPECT_EQ(c.xfer_length, 300U);
  EXPECT_EQ(c.msg_length, 700U);
  EXPECT_TRUE(c.released);
}

TEST_F(MultiReceiveTest, cancel_waits_for_the_message_that_is_arriving) {
  open();
  Bytes& memory = room(4'000'000);
  Request* r = post(memory, 100);
  (void)send(*a, to_b, message(3'000'000, 1), 1);
  network.run_until([&] { return (*b)->pulls_running(); });
  EXPECT_TRUE(*(*b)->cancel(r, true));
  EXPECT_EQ((*b)->peek_done(), nullptr);
  EXPECT_EQ(next().status, Status::success);
  const Completion end = next();
  EXPECT_EQ(end.status, Status::cancelled);
  // The next message finds no posted receive.
  (void)send(*a, to_b, message(100, 2), 2);
  network.run_until([&] { return (*b)->probe(2, ~0ULL).has_value(); });
  EXPECT_TRUE((*b)->probe(2, ~0ULL).has_value());
}

TEST_F(MultiReceiveTest, cancel_of_an_unused_one_ends_it_at_once) {
  open();
  Request* r = post(room(1000), 100);
  EXPECT_TRUE(*(*b)->cancel(r, true));
  EXPECT_EQ(next().status, Status::cancelled);
}

TEST_F(MultiReceiveTest, messages_to_oneself) {
  open();
  (void)post(room(1000), 100);
  const auto sent = send(*b, (*b)->self(), message(950, 1), 1);
  const Completion c = next();
  EXPECT_EQ(c.kind, RequestKind::receive);
  EXPECT_TRUE(c.released);
  EXPECT_EQ(wait(*b, sent).status, Status::success);
}

TEST_F(MultiReceiveTest, needs_one_segment_of_at_least_the_least) {
  open();
  Bytes& memory = room(10);
  Segment s = segment(memory);
  ReceiveOp op = into(s, 11);
  EXPECT_EQ((*b)->receive(network.now, op).error(), OpError::bad_segment_count);
  op.multi_receive_least = 1;
  op.segments = {};
  EXPECT_EQ((*b)->receive(network.now, op).error(), OpError::bad_segment_count);
}

TEST_F(MultiReceiveTest, closing_with_one_posted) {
  open();
  (void)post(room(1000), 100);
  (void)send(*a, to_b, message(100, 1), 1);
  EXPECT_EQ(next().status, Status::success);
}

class Claimed : public PairTest {
 protected:
  Unexpected* claim(std::uint64_t info) {
    Unexpected* found = nullptr;
    network.run_until([&] { return (found = (*b)->claim(info, ~0ULL, nullptr, 0)) != nullptr; });
    return found;
  }
  Request* take(Unexpected* message, Bytes& memory) {
    Segment s = segment(memory);
    ReceiveOp op;
    op.segments = {&s, 1};
    return (*b)->receive_claimed(network.now, message, op).value();
  }
};

TEST_F(Claimed, no_receive_meets_it_but_its_own) {
  open();
  for (const std::size_t size : {std::size_t{10}, std::size_t{20'000}, std::size_t{500'000}}) {
    Bytes& first = message(size, 1);
    (void)send(*a, to_b, first, 5);
    Unexpected* claimed = claim(5);
    ASSERT_NE(claimed, nullptr);
    EXPECT_FALSE((*b)->probe(5, ~0ULL).has_value());
    Request* other = receive(*b, room(size), 5);
    Bytes& second = message(size, 2);
    (void)send(*a, to_b, second, 5);
    Bytes& memory = room(size);
    EXPECT_EQ(wait(*b, take(claimed, memory)).status, Status::success);
    EXPECT_EQ(memory, first);
    EXPECT_EQ(wait(*b, other).status, Status::success);
  }
}

TEST_F(Claimed, discard_ends_the_send) {
  open();
  Request* sent = send(*a, to_b, message(500'000, 1), 5);
  Unexpected* claimed = claim(5);
  ASSERT_NE(claimed, nullptr);
  EXPECT_FALSE((*a)->done(sent));
  EXPECT_TRUE((*b)->discard(network.now, claimed));
  EXPECT_EQ(wait(*a, sent).xfer_length, 0U);
  Request* own = send(*b, (*b)->self(), message(500'000, 1), 6);
  claimed = claim(6);
  ASSERT_NE(claimed, nullptr);
  EXPECT_TRUE((*b)->discard(network.now, claimed));
  EXPECT_TRUE((*b)->done(own));
}

TEST_F(Claimed, a_sender_that_went_away_meanwhile_fails_the_receive) {
  open();
  (void)send(*a, to_b, message(500'000, 1), 5);
  (void)send(*a, to_b, message(100, 2), 6);
  Unexpected* large = claim(5);
  Unexpected* small = claim(6);
  (*b)->disconnect(network.now, to_a);
  EXPECT_EQ(wait(*b, take(large, room(500'000))).status, Status::endpoint_unreachable);
  EXPECT_EQ(wait(*b, take(small, room(100))).status, Status::success);
}

TEST_F(Claimed, may_be_left_when_the_endpoint_closes) {
  open();
  (void)send(*a, to_b, message(500'000, 1), 5);
  (void)send(*b, (*b)->self(), message(500'000, 1), 6);
  EXPECT_NE(claim(5), nullptr);
  EXPECT_NE(claim(6), nullptr);
}

class SendLevels : public PairTest {
 protected:
  SendOp op_of(Bytes& data, Segment& s) {
    s = segment(data);
    SendOp op;
    op.peer = to_b;
    op.segments = {&s, 1};
    return op;
  }
};

TEST_F(SendLevels, delivered__completes_with_the_acknowledgement) {
  open();
  Segment s;
  SendOp op = op_of(message(10), s);
  Request* plain = (*a)->send(network.now, op).value();
  op.delivered = true;
  Request* sure = (*a)->send(network.now, op).value();
  EXPECT_TRUE((*a)->done(plain));
  EXPECT_FALSE((*a)->done(sure));
  EXPECT_EQ(wait(*a, sure).status, Status::success);
}

TEST_F(SendLevels, inject__memory_is_free_at_once_even_when_the_window_is_full) {
  open();
  std::vector<Request*> sent;
  Bytes data(4096);
  for (std::uint8_t i = 0; i < 200; i++) {
    std::fill(data.begin(), data.end(), std::byte{i});
    Segment s;
    SendOp op = op_of(data, s);
    op.match_info = i;
    op.inject = true;
    sent.push_back((*a)->send(network.now, op).value());
  }
  std::fill(data.begin(), data.end(), std::byte{0xEE});
  for (std::uint8_t i = 0; i < 200; i++) {
    Bytes& in = room(4096);
    EXPECT_EQ(wait(*b, receive(*b, in, i)).status, Status::success);
    EXPECT_EQ(in.front(), std::byte{i});
    EXPECT_EQ(in.back(), std::byte{i});
  }
  for (Request* r : sent) EXPECT_EQ(wait(*a, r).status, Status::success);
}

TEST_F(SendLevels, inject__refused_for_lack_of_memory_only) {
  Config config;
  config.buffered_sends_max = 0;
  config.send_buffer_bytes = 3 * 128;
  open(config);
  Segment s;
  SendOp op = op_of(message(10), s);
  op.inject = true;
  for (int i = 0; i < 3; i++) EXPECT_TRUE((*a)->send(network.now, op).has_value());
  EXPECT_EQ((*a)->send(network.now, op).error(), OpError::no_resources);
  for (int i = 0; i < 3; i++) (void)wait(*b, receive(*b, room(10), 0, 0));
  network.run_until([&] { return (*a)->drained(); });
  EXPECT_TRUE((*a)->send(network.now, op).has_value());
}

class Awaited : public PairTest {
 protected:
  Request* await(std::uint64_t info) {
    Bytes& memory = room(100);
    Segment s = segment(memory);
    ReceiveOp op;
    op.segments = {&s, 1};
    op.match_info = info;
    op.source = to_b;
    op.awaited = true;
    return (*a)->receive(network.now, op).value();
  }
};

TEST_F(Awaited, comes) {
  open();
  Request* r = await(1);
  (void)send(*b, to_a, message(100), 1);
  EXPECT_EQ(wait(*a, r).status, Status::success);
}

TEST_F(Awaited, fails_when_its_source_dies) {
  Config config;
  config.reliability.peer_timeout = 10 * kSecond;
  open(config);
  Request* r = await(1);
  network.run_for(60 * kSecond);
  EXPECT_FALSE((*a)->done(r));  // a living peer may take its time
  network.kill(1);
  EXPECT_EQ(wait(*a, r, 30 * kSecond).status, Status::endpoint_unreachable);
}

TEST_F(Awaited, cancelled_or_left_alone) {
  open();
  EXPECT_TRUE(*(*a)->cancel(await(1), true));
  (void)await(2);
}

}  // namespace
}  // namespace omx::protocol::test
