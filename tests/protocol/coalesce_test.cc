// SPDX-License-Identifier: BSD-3-Clause
// Bursts of short messages in coalesced frames.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class CoalesceTest : public PairTest {
 protected:
  Request* hold(Bytes& data, std::uint64_t match, std::uint8_t message_class = 0) {
    Segment s = segment(data);
    SendOp op;
    op.peer = to_b;
    op.segments = {&s, 1};
    op.match_info = match;
    op.advice.hold = true;
    op.message_class = message_class;
    op.has_data = message_class != 0;
    op.data = match * 3;
    return (*a)->send(network.now, op).value();
  }
  // `count` messages of growing length, sent together.
  void burst(std::uint64_t count, std::uint64_t first = 0) {
    for (std::uint64_t i = first; i < first + count; i++) sent_.push_back(hold(message(i % 129, i), i));
    (*a)->release(network.now);
  }
  // Receives `count` messages, in order and intact.
  void arrive(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; i++) {
      Bytes& in = room(i % 129);
      const Completion c = wait(*b, receive(*b, in, 0, 0));
      ASSERT_EQ(c.match_info, i);
      ASSERT_EQ(c.msg_length, i % 129);
      ASSERT_EQ(in, pattern(i, i % 129));
    }
    for (Request* r : sent_) ASSERT_EQ(wait(*a, r).status, Status::success);
  }
  std::uint64_t count(const Host& host, Counter id) { return host.counters[id]; }

  std::vector<Request*> sent_;
};

TEST_F(CoalesceTest, held_until_released__then_one_frame) {
  open();
  for (std::uint64_t i = 0; i < 10; i++) sent_.push_back(hold(message(i, i), i));
  EXPECT_TRUE((*a)->held_any());
  EXPECT_EQ(count(*a, Counter::send_coalesced) + count(*a, Counter::send_tiny), 0U);
  (*a)->release(network.now);
  EXPECT_FALSE((*a)->held_any());
  EXPECT_EQ(count(*a, Counter::send_coalesced), 1U);
  EXPECT_EQ(count(*a, Counter::send_tiny), 0U);
  arrive(10);
  EXPECT_EQ(count(*b, Counter::recv_coalesced), 1U);
}

TEST_F(CoalesceTest, nothing_else_happens__progress_sends_them) {
  open();
  sent_.push_back(hold(message(0, 0), 0));
  (*a)->progress(network.now);
  EXPECT_FALSE((*a)->held_any());
  arrive(1);
}

TEST_F(CoalesceTest, more_than_a_frame_holds) {
  open();
  burst(200);
  EXPECT_GT(count(*a, Counter::send_coalesced), 8U);
  EXPECT_LT(count(*a, Counter::send_coalesced), 20U);
  arrive(200);
}

TEST_F(CoalesceTest, more_than_the_window_holds__what_waited_is_packed_without_being_told_to) {
  open();
  for (std::uint64_t i = 0; i < 2000; i++) sent_.push_back(send(*a, to_b, message(i % 129, i), i));
  arrive(2000);
  EXPECT_GT(count(*a, Counter::send_coalesced), 10U);
  EXPECT_LT(count(*a, Counter::send_tiny) + count(*a, Counter::send_small), 600U);
}

TEST_F(CoalesceTest, longer_messages_go_behind_the_short_ones) {
  open();
  burst(3);
  sent_.push_back(hold(message(3, 3), 3));
  sent_.push_back(hold(message(1000, 4), 4));
  sent_.push_back(hold(message(100'000, 5), 5));
  EXPECT_FALSE((*a)->held_any());
  (*a)->release(network.now);
  for (std::uint64_t i = 0; i < 6; i++) EXPECT_EQ(wait(*b, receive(*b, room(100'000), 0, 0)).match_info, i);
  EXPECT_EQ(count(*b, Counter::early), 0U) << "they overtook";
}

TEST_F(CoalesceTest, class_and_data_go_with_each) {
  open();
  for (std::uint64_t i = 0; i < 6; i++) hold(message(i, i), i, static_cast<std::uint8_t>(i % 3));
  (*a)->release(network.now);
  for (const std::uint8_t message_class : {2, 1, 0}) {
    for (std::uint64_t i = message_class; i < 6; i += 3) {
      Segment s = segment(room(10));
      ReceiveOp op;
      op.segments = {&s, 1};
      op.match_mask = 0;
      op.message_class = message_class;
      const Completion c = wait(*b, (*b)->receive(network.now, op).value());
      EXPECT_EQ(c.match_info, i);
      EXPECT_EQ(c.has_data, message_class != 0);
      EXPECT_EQ(c.data, message_class != 0 ? i * 3 : 0);
    }
  }
}

TEST_F(CoalesceTest, lost__each_is_sent_again_by_itself) {
  open();
  network.faults.drop = drop_next(wire::PacketType::pack, 2);
  burst(20);
  burst(20, 20);
  burst(20, 40);
  arrive(60);
  EXPECT_GE(count(*a, Counter::send_tiny) + count(*a, Counter::send_small), 40U);
  EXPECT_EQ(count(*b, Counter::early), 20U) << "the third frame waited for the others";
}

TEST_F(CoalesceTest, loss_duplicates_and_reordering) {
  Config config;
  config.checksum = true;
  open(config, config);
  network.faults.loss = network.faults.duplicate = 0.05;
  network.faults.corrupt = 0.02;
  network.faults.reorder = 0.1;
  for (std::uint64_t i = 0; i < 1000; i += 10) burst(10, i);
  arrive(1000);
}

TEST_F(CoalesceTest, not_to_peers_that_cannot_read_it) {
  Config plain;
  plain.coalesce = false;
  for (const Config& other : {reference(), plain}) {
    Network fresh{5};
    Host& x = fresh.add({});
    Host& y = fresh.add(other);
    Peer* to = connect(fresh, x, y);
    ASSERT_NE(to, nullptr);
    Segment s{nullptr, 0};
    SendOp op;
    op.peer = to;
    op.segments = {&s, 1};
    op.advice.hold = true;
    for (int i = 0; i < 5; i++) EXPECT_TRUE(x->send(fresh.now, op).has_value());
    EXPECT_FALSE(x->held_any());
    EXPECT_EQ(x.counters[Counter::send_coalesced], 0U);
  }
}

// The messages are complete for the application, which may have waited for that.
TEST_F(CoalesceTest, disconnect__sends_what_waits_first) {
  open();
  Request* r = hold(message(10), 1);
  ASSERT_TRUE((*a)->done(r));
  EXPECT_EQ((*a)->consume(r).status, Status::success);
  (*a)->disconnect(network.now, to_b);
  EXPECT_FALSE((*a)->held_any());
  EXPECT_EQ(wait(*b, receive(*b, room(10), 1)).status, Status::success);
}

TEST_F(CoalesceTest, peer_given_up_while_they_wait) {
  open();
  hold(message(10), 1);
  (*a)->peer_gone(network.now, (*b)->config().nic, 0);
  EXPECT_FALSE((*a)->held_any());
  EXPECT_EQ(count(*a, Counter::send_coalesced), 0U);
}

// No handler runs between disable and reenable (docs/spec/mx-clients.md 24).
TEST_F(CoalesceTest, suspended_in_the_middle__the_rest_comes_when_it_goes_on) {
  open();
  struct Context {
    Host* host;
    Network* network;
    std::vector<std::uint64_t> seen = {};
  } context{b, &network};
  (*b)->set_unexpected_handler(
      [](void* c, const Arrival& arrival) {
        auto* at = static_cast<Context*>(c);
        at->seen.push_back(arrival.match_info);
        if (at->seen.size() == 3) (*at->host)->suspend(at->network->now, true);
        return HandlerAction::finished;
      },
      &context);
  burst(10);
  network.run_for(10'000);
  EXPECT_EQ(context.seen.size(), 3U);
  (*b)->suspend(network.now, false);
  EXPECT_EQ(context.seen.size(), 10U) << "without a repetition";
  network.run_for(kSecond);
  EXPECT_EQ(context.seen, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  for (Request* r : sent_) EXPECT_EQ(wait(*a, r).status, Status::success);
}

TEST_F(CoalesceTest, unexpected_handler_that_drops_the_peer_gets_no_more) {
  open();
  static int calls;
  calls = 0;
  struct Context {
    Host* host;
    Network* network;
  } context{b, &network};
  (*b)->set_unexpected_handler(
      [](void* c, const Arrival& arrival) {
        calls++;
        auto* at = static_cast<Context*>(c);
        (*at->host)->disconnect(at->network->now, arrival.peer);
        return HandlerAction::finished;
      },
      &context);
  burst(10);
  network.run_for(kMillisecond);
  EXPECT_EQ(calls, 1);
}

TEST_F(CoalesceTest, no_memory__what_is_refused_comes_again) {
  Config small;
  small.buffer_bytes = 8192;
  open({}, small);
  burst(250);
  network.run_for(50 * kMillisecond);
  EXPECT_GT(count(*b, Counter::back_pressure) + count(*b, Counter::early_dropped), 0U);
  arrive(250);
}

}  // namespace
}  // namespace omx::protocol::test
