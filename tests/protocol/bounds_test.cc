// SPDX-License-Identifier: BSD-3-Clause
// The memory that peers can make an endpoint hold is bounded, and one peer cannot take all of it.
#include "protocol/actions/send.h"
#include "tests/protocol/support.h"
#include "tests/support/allocation_count.h"

namespace omx::protocol::test {
namespace {

class Bounds : public PairTest {
 protected:
  // Connects as a legacy peer that exists in frames only, and delivers message number `seqnum`.
  void unknown_peer(Host& h, std::uint64_t i, std::uint16_t seqnum) {
    const NicId nic = 0x060000000000 + i;
    wire::Connect request;
    request.src_session = 7;
    request.target_recv_seqnum_start = 1;
    h->on_frame(network.now,
                hand_made(nic, h->config().nic, wire::PacketType::connect,
                          [&](std::byte* o, const wire::Head& d) { return encode_connect(o, d, request); }));
    wire::Eager packet;
    packet.seqnum = seqnum;
    packet.piggyack = kSeqFirst;
    packet.session = h->config().session;
    h->on_frame(network.now,
                hand_made(nic, h->config().nic, wire::PacketType::tiny,
                          [&](std::byte* o, const wire::Head& d) { return encode_eager(o, d, packet); }));
  }
};

TEST_F(Bounds, reorder_buffers__count) {
  Config config;
  config.buffer_bytes = 1 << 20;
  Host& h = network.add(config);
  for (std::uint64_t i = 0; i < 1000; i++) unknown_peer(h, i, 3);
  const State& s = h->state();
  EXPECT_GT(s.memory.reorder_buffers.live(), 50U);
  EXPECT_LE(s.memory.reorder_buffers.live() * sizeof(ReorderBuffer) + s.memory.buffers.in_use(),
            (1U << 20) / 2);
  EXPECT_GT(h.counters[Counter::early_dropped], 0U);
  unknown_peer(h, 5000, 1);
  EXPECT_TRUE(h->probe(0, ~0ULL)) << "the other half is for messages in order";
}

TEST_F(Bounds, peers__have_a_maximum) {
  Config config;
  config.max_peers = 100;
  Host& h = network.add(config);
  for (std::uint64_t i = 0; i < 200; i++) unknown_peer(h, i, 1);
  EXPECT_EQ(h->peer_count(), 100U);
  const auto r = h->connect(network.now, 0x99, 0, 0, 0, nullptr, false);
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error(), OpError::no_resources);
}

TEST_F(Bounds, unexpected__one_peer_leaves_room_for_others) {
  Config config;
  config.buffer_bytes = 1 << 20;
  open(config, config);
  Host& c = network.add(config);
  Host& d = network.add(config);
  for (int i = 0; i < 300; i++) (void)send(*a, to_b, message(8000, 1), 1);
  network.run_for(kSecond);
  EXPECT_GT(b->counters[Counter::back_pressure], 0U);
  const std::size_t first = (*b)->memory().buffers;
  EXPECT_GT(first, (1U << 20) / 3);
  EXPECT_LE(first, (1U << 20) * 2 / 3);
  // The other peers' messages arrive at once, and none can push out the next one.
  std::uint64_t match = 2;
  for (Host* h : {&c, &d}) {
    Peer* p = connect(network, *h, *b);
    for (int i = 0; i < 300; i++) (void)send(*h, p, message(8000, 2), match);
    network.run_for(kSecond);
    EXPECT_TRUE((*b)->probe(match, ~0ULL)) << match;
    match++;
  }
  EXPECT_LE((*b)->memory().buffers, 1U << 20);
  for (int i = 0; i < 300; i++)
    ASSERT_EQ(wait(*b, receive(*b, room(8000), 1), kSecond).status, Status::success);
}

TEST_F(Bounds, unexpected__a_small_amount_is_not_shared) {
  Config config;
  config.buffer_bytes = 64 * 1024;
  open(config, config);
  for (int i = 0; i < 250; i++) (void)send(*a, to_b, message(100, 1), 1);
  network.run_for(kSecond);
  EXPECT_GT((*b)->state().buffers_held(), 60U * 1024);
}

TEST_F(Bounds, unexpected__the_limit_is_exact) {
  for (const std::size_t length : {0, 100, 5000, 30000}) {
    network.clear();
    Config config;
    config.buffer_bytes = 80 * 1024;
    open(config, config);
    Host& c = network.add(config);
    Peer* p = connect(network, c, *b);
    for (int i = 0; i < 600; i++) {
      (void)send(*a, to_b, message(length), 1);
      (void)send(c, p, message(length), 1);
    }
    for (int i = 0; i < 1000; i++) {
      network.run_for(kMillisecond);
      ASSERT_LE((*b)->state().buffers_held(), 80U * 1024) << length;
    }
    EXPECT_GT(b->counters[Counter::back_pressure], 0U) << length;
  }
}

TEST_F(Bounds, unexpected__the_limit_holds_for_messages_to_oneself) {
  Config config;
  config.buffer_bytes = 64 * 1024;
  Host& h = network.add(config);
  for (std::uint64_t i = 0; i < 100; i++) unknown_peer(h, i, 3);
  ASSERT_GT(h->state().buffers_held(), 20U * 1024);
  for (int i = 0; i < 30; i++) (void)send(h, h->self(), message(4000), 1);
  EXPECT_LE(h->state().buffers_held(), 64U * 1024 + 30 * sizeof(Unexpected));
}

TEST_F(Bounds, unexpected__a_peer_alone_may_always_send_one) {
  Config config;
  config.buffer_bytes = 33 * 1024;
  config.rndv_threshold = 32 * 1024;
  open(config, config);
  Bytes& out = message(30000);
  (void)send(*a, to_b, out, 1);
  ASSERT_TRUE(network.run_until([&] { return (*b)->probe(1, ~0ULL).has_value(); }, kSecond));
  Bytes& in = room(30000);
  EXPECT_EQ(wait(*b, receive(*b, in, 1), kSecond).status, Status::success);
  EXPECT_EQ(in, out);
  EXPECT_EQ(to_a->rx.unexpected_bytes, 0U);
}

// --- large messages without memory: nothing waits indefinitely ---

TEST_F(Bounds, no_memory__a_large_message_comes_again) {
  for (const bool handler : {false, true}) {
    network.clear();
    open();
    exchange(*a, to_b, *b, 100);
    static int calls;
    calls = 0;
    Request* r = handler ? nullptr : receive(*b, room(100000), 1);
    if (handler)
      (*b)->set_unexpected_handler(
          [](void*, const Arrival&) {
            calls++;
            return HandlerAction::finished;
          },
          nullptr);
    Request* s = send(*a, to_b, message(100000), 1);
    omx::test::allocations_fail(true);
    network.run_for(100 * kMillisecond);
    omx::test::allocations_fail(false);
    EXPECT_GT(b->counters[Counter::back_pressure], 0U);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(wait(*a, s, kSecond).status, handler ? Status::truncated : Status::success);
    EXPECT_EQ(calls, handler ? 1 : 0);
    if (r) {
      EXPECT_EQ(wait(*b, r, kSecond).status, Status::success);
    }
  }
}

TEST_F(Bounds, no_memory__to_pull_a_message_that_waited) {
  open();
  Request* s = send(*a, to_b, message(100000), 1);
  network.run_for(kMillisecond);
  auto& pulls = (*b)->state().memory.pulls;
  std::vector<Pull*> taken;
  omx::test::allocations_fail(true);
  while (Pull* pull = pulls.create()) taken.push_back(pull);
  Request* r = receive(*b, room(100000), 1);
  omx::test::allocations_fail(false);
  for (Pull* pull : taken) pulls.destroy(pull);
  const Completion c = wait(*b, r, kSecond);
  EXPECT_EQ(c.status, Status::no_resources);
  EXPECT_EQ(c.xfer_length, 0U);
  EXPECT_EQ(wait(*a, s, kSecond).status, Status::truncated);
}

TEST_F(Bounds, notifies__of_a_peer_that_never_acknowledges) {
  for (const bool unwanted : {true, false}) {
    network.clear();
    network.faults = {};
    open();
    if (unwanted)
      (*b)->set_unexpected_handler([](void*, const Arrival&) { return HandlerAction::finished; }, nullptr);
    network.faults.drop = [](const Bytes&) { return true; };
    const std::uint16_t ack = to_a->counting.next_send;
    std::uint16_t seqnum = to_b->counting.next_send;
    const std::size_t before = (*b)->state().memory.requests.live();
    for (int i = 0; i < 20000; i++) {
      if (!unwanted) {  // truncated to nothing: NOTIFY without a pull
        ReceiveOp op;
        op.match_info = 1;
        op.forgotten = true;
        if ((*b)->state().matching.posted.size() == 0) (void)(*b)->receive(network.now, op);
      }
      wire::Rndv packet;
      packet.seqnum = seqnum;
      packet.piggyack = ack;
      packet.session = (*b)->config().session;
      packet.match_info = 1;
      packet.msg_length = 100;
      packet.rdma_id = packet.rdma_seqnum = 1;
      (*b)->on_frame(network.now += 1000,
                     hand_made((*a)->config().nic, (*b)->config().nic, wire::PacketType::rndv,
                               [&](std::byte* o, const wire::Head& h) { return encode_rndv(o, h, packet); }));
      seqnum = to_a->counting.next_match;
    }
    EXPECT_EQ(to_a->tx.notifies_queued, 1024U);
    EXPECT_LE((*b)->state().memory.requests.live() - before, kSendWindow + 1024 + 1);
    EXPECT_GT(b->counters[Counter::back_pressure], 5000U);
  }
}

TEST_F(Bounds, notifies__go_before_messages_and_in_order) {
  // B may not send numbers yet: its CONNECT request is not answered (see legacy_test.cc).
  network.faults.drop = [](const Bytes& f) {
    return type_of(f) == wire::PacketType::connect && f[42] == std::byte{0} && f[11] == std::byte{2};
  };
  open(reference(), reference(), false);
  ASSERT_TRUE(to_a->held_back());
  (*b)->set_unexpected_handler([](void*, const Arrival&) { return HandlerAction::finished; }, nullptr);
  for (int i = 0; i < 3; i++) (void)send(*b, to_a, message(4), 5);
  std::vector<Request*> sends;
  for (int i = 0; i < 100; i++) sends.push_back(send(*a, to_b, message(8), 1, true));
  network.run_for(100 * kMillisecond);
  EXPECT_EQ(to_a->tx.notifies_queued, 100U);
  std::vector<int> order;  // the first number of each block
  network.faults.drop = [&](const Bytes& f) {
    if (type_of(f) == wire::PacketType::tiny) order.push_back(1000);
    wire::Notify packet;
    if (wire::decode_notify(f, false, packet) == wire::Drop::none && order.size() < 103)
      order.push_back(static_cast<int>(packet.rdma_id));
    return false;
  };
  for (Request* s : sends) EXPECT_EQ(wait(*a, s, 10 * kSecond).status, Status::truncated);
  ASSERT_EQ(order.size(), 103U);
  for (std::size_t i = 0; i < 103; i++) EXPECT_EQ(order[i], i < 100 ? static_cast<int>(i) : 1000);
  EXPECT_EQ(to_a->tx.last_notify, nullptr);
}

}  // namespace
}  // namespace omx::protocol::test
