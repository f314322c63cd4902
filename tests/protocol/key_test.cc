// SPDX-License-Identifier: BSD-3-Clause
// Wrong keys admit no peer. Still, a conversation that the other side gave up must end, even if the asking
// side does not know the key.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

// A has a key and connects to B, which answers without ever connecting back.
class Key : public PairTest, public testing::WithParamInterface<bool> {
 protected:
  void start() {
    Config keyed, open_to_all;
    keyed.key = 0x1234;
    keyed.extension = open_to_all.extension = GetParam();
    keyed.buffered_sends_max = open_to_all.buffered_sends_max = 0;
    open(keyed, open_to_all, false);
    exchange(*b, to_a, *a, 100);
    exchange(*a, to_b, *b, 100);
  }
};

TEST_P(Key, unknown_to_who_pings__a_peer_that_gave_up_is_noticed) {
  start();
  Request* large = send(*b, to_a, message(100000), 1);
  network.run_for(kSecond);  // acknowledged, waits for NOTIFY
  (*a)->disconnect(network.now, to_b);
  EXPECT_EQ(wait(*b, large, 20 * kSecond).status, Status::endpoint_unreachable);
  EXPECT_FALSE(to_a->connected()) << "a wrong key must not connect";
  EXPECT_EQ(connect(network, *a, *b), to_b);
  exchange_both_ways();
}

TEST_P(Key, unknown_to_who_pings__unacknowledged_sends_end) {
  start();
  (*a)->disconnect(network.now, to_b);
  Request* small = send(*b, to_a, message(8), 1);
  Request* large = send(*b, to_a, message(100000), 1);
  EXPECT_EQ(wait(*b, small, 20 * kSecond).status, Status::endpoint_unreachable);
  EXPECT_EQ(wait(*b, large, 20 * kSecond).status, Status::endpoint_unreachable);
}

TEST_P(Key, unknown_to_who_pings__a_living_peer_is_kept) {
  start();
  Request* large = send(*b, to_a, message(100000), 1);
  network.run_for(30 * kSecond);
  EXPECT_GT(a->counters[Counter::recv_connect_request], 5U);
  EXPECT_FALSE((*b)->done(large));
  (void)receive(*a, room(100000), 1);
  EXPECT_EQ(wait(*b, large).status, Status::success);
  exchange_both_ways();
}

TEST_P(Key, wrong_in_a_connect__pings_keep_the_one_that_worked) {
  Config keyed, other;
  keyed.key = 0x1234;
  keyed.extension = other.extension = GetParam();
  a = &network.add(other);
  b = &network.add(keyed);
  to_b = connect(network, *a, *b, 0x1234);
  to_a = (*b)->find_peer((*a)->config().nic, 0);
  EXPECT_EQ(wait(*a, connect_start(*a, *b, 6)).status, Status::bad_key);
  EXPECT_EQ(to_b->session.key, 0x1234U);
  exchange_both_ways();
}

// The answer shows how B counted before the two agreed again. It arrives after they agreed.
TEST_F(PairTest, late_refusal__a_relation_that_is_new_again_is_kept) {
  Config keyed;
  keyed.key = 0x1234;
  a = &network.add({});
  b = &network.add(keyed);
  to_b = connect(network, *a, *b, 0x1234);
  to_a = (*b)->find_peer((*a)->config().nic, 0);
  exchange_both_ways();
  (*b)->disconnect(network.now, to_a);
  Bytes late;
  network.faults.drop = [&](const Bytes& frame) {
    wire::Connect packet;
    const bool refusal = is_connect(frame, true, packet) && packet.status != 0;
    if (refusal && late.empty()) late = frame;
    return refusal;
  };
  Request* wrong = connect_start(*a, *b, 6);
  network.run_for(kMillisecond);
  ASSERT_FALSE(late.empty());
  ASSERT_EQ(connect(network, *a, *b, 0x1234), to_b);
  Request* s = send(*a, to_b, message(100000), 1);
  const std::uint64_t restarts = a->counters[Counter::peer_restarted];
  network.inject(late);
  EXPECT_EQ(wait(*a, wrong).status, Status::bad_key);
  EXPECT_EQ(a->counters[Counter::peer_restarted], restarts);
  (void)receive(*b, room(100000), 1);
  EXPECT_EQ(wait(*a, s).status, Status::success);
  exchange_both_ways();
}

// A gave B up. B hears that and adopts A's new count. B's answer is lost, and A does not ask again. B has
// this count only because the two knew each other, so its ping completes the conversation.
TEST_F(PairTest, answer_of_who_knows_no_key_lost__the_relation_is_completed_by_its_ping) {
  Config keyed;
  keyed.key = 0x1234;
  open(keyed, {}, false);
  exchange_both_ways();
  (void)receive(*b, room(8), 1);
  (void)send(*a, to_b, message(8), 1);
  network.run_for(kMillisecond / 10);
  (*a)->disconnect(network.now, to_b);  // before B's acknowledgement, for which A asks
  network.faults.drop = [](const Bytes& frame) {
    wire::Connect packet;
    return is_connect(frame, true, packet);
  };
  network.run_for(kSecond);
  network.faults.drop = nullptr;
  ASSERT_TRUE(to_a->connected());
  ASSERT_FALSE(to_b->connected());
  Request* s = send(*b, to_a, message(100000), 1);
  (void)receive(*a, room(100000), 1);
  EXPECT_EQ(wait(*b, s, 5 * kSecond).status, Status::success);
  EXPECT_EQ(wait(*b, connect_start(*b, *a, 6)).status, Status::bad_key);
  exchange_both_ways();
}

// The answer that refuses names the count. So a claim that the count is in use proves nothing.
TEST_F(PairTest, count_learnt_from_a_refusal__lets_nobody_in) {
  Config keyed;
  keyed.key = 0x1234;
  open(keyed, {}, false);
  exchange_both_ways();
  network.run_for(10 * kMillisecond);
  const NicId a_nic = (*a)->config().nic, b_nic = (*b)->config().nic;
  wire::Connect ask;
  ask.src_session = (*b)->config().session;
  (*a)->disconnect(network.now, to_b);
  network.kill(1);
  wire::Connect heard;
  network.faults.drop = [&](const Bytes& frame) { return is_connect(frame, true, heard) && false; };
  ask.key_or_target_session = 0xBAD;
  ask.target_recv_seqnum_start = kSeqFirst;
  ask.ext.present = true;
  ask.ext.max_frame = 1514;
  ask.ext.eager_frames = 64;
  ask.ext.pull_frames = 32;
  ask.ext.generation = to_b->counting.peer_generation;
  const auto say = [&] {
    network.inject(
        hand_made(b_nic, a_nic, wire::PacketType::connect,
                  [&](std::byte* out, const wire::Head& h) { return encode_connect(out, h, ask); }));
    network.run_for(kMillisecond);
  };
  say();
  ASSERT_NE(heard.status, 0);
  ASSERT_EQ(heard.ext.generation, to_b->counting.generation);
  ask.ext.peer_generation = heard.ext.generation;
  ask.ext.peer_generation_in_use = true;
  ask.ext.generation = to_b->counting.peer_generation + 1;
  say();
  EXPECT_FALSE(to_b->connected());
}

// A's connect has reached B once, so B may send. A does not hear B's answer, and B does not know the key that
// it would need to ask.
class HalfOpen : public PairTest {
 protected:
  void start() {
    Config keyed;
    keyed.key = 0x1234;
    a = &network.add(keyed);
    b = &network.add({});
    under_way = connect_start(*a, *b);
    network.faults.drop = [this](const Bytes& frame) {
      wire::Connect packet;
      if (is_connect(frame, false, packet)) return packet.src_session == (*a)->config().session;
      return is_connect(frame, true, packet) && packet.status == 0;
    };
    network.run_for(kMillisecond);
    to_a = (*b)->find_peer((*a)->config().nic, 0);
    ASSERT_TRUE(to_a && to_a->connected());
    large = send(*b, to_a, message(100000), 1);
    network.run_for(10 * kSecond);
  }
  Request* under_way = nullptr;
  Request* large = nullptr;
};

TEST_F(HalfOpen, lasts_as_long_as_the_connect) {
  start();
  EXPECT_FALSE((*b)->done(large));
  network.faults.drop = nullptr;
  const Completion c = wait(*a, under_way);
  EXPECT_EQ(c.status, Status::success);
  to_b = c.peer;
  (void)receive(*a, room(100000), 1);
  EXPECT_EQ(wait(*b, large).status, Status::success);
  exchange_both_ways();
}

TEST_F(HalfOpen, ends_when_the_connect_has_ended) {
  start();
  ASSERT_TRUE(*(*a)->cancel(under_way));
  EXPECT_EQ(wait(*b, large, 5 * kSecond).status, Status::endpoint_unreachable);
  network.faults.drop = nullptr;
  to_b = connect(network, *a, *b);
  ASSERT_NE(to_b, nullptr);
  exchange_both_ways();
}

std::string key_name(const testing::TestParamInfo<bool>& info) {
  return info.param ? "extended" : "reference";
}
INSTANTIATE_TEST_SUITE_P(All, Key, testing::Bool(), key_name);

}  // namespace
}  // namespace omx::protocol::test
