// SPDX-License-Identifier: BSD-3-Clause
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class Connect : public PairTest {};

TEST_F(Connect, connect__both_at_once) {
  a = &network.add({});
  b = &network.add({});
  Request* ab = connect_start(*a, *b);
  Request* ba = connect_start(*b, *a);
  const Completion ca = wait(*a, ab);
  const Completion cb = wait(*b, ba);
  EXPECT_EQ(ca.status, Status::success);
  EXPECT_EQ(cb.status, Status::success);
  EXPECT_EQ(ca.session, (*b)->config().session);
  to_b = ca.peer;
  to_a = cb.peer;
  exchange_both_ways();
  EXPECT_EQ((*a)->peer_count(), 2U);
}

TEST_F(Connect, connect__both_at_once_repeated_with_faults) {
  network.faults.loss = 0.2;
  network.faults.duplicate = 0.2;
  network.faults.reorder = 0.3;
  open();
  for (int i = 0; i < 50; i++) {
    Request* ab = connect_start(*a, *b);
    Request* ba = connect_start(*b, *a);
    EXPECT_EQ(wait(*a, ab).status, Status::success);
    EXPECT_EQ(wait(*b, ba).status, Status::success);
    exchange(*a, to_b, *b, 10);
    exchange(*b, to_a, *a, 10);
  }
}

TEST_F(Connect, connect__each_of_several_is_answered) {
  a = &network.add({});
  b = &network.add({});
  std::vector<Request*> requests;
  for (int i = 0; i < 20; i++) requests.push_back(connect_start(*a, *b));
  for (Request* r : requests) EXPECT_EQ(wait(*a, r).status, Status::success);
}

TEST_F(Connect, connect__request_lost) {
  a = &network.add({});
  b = &network.add({});
  network.faults.drop = drop_next(wire::PacketType::connect, 3);
  EXPECT_EQ(wait(*a, connect_start(*a, *b)).status, Status::success);
}

TEST_F(Connect, connect__reply_lost) {
  a = &network.add({});
  b = &network.add({});
  network.faults.drop = [n = 0](const Bytes& f) mutable {
    return type_of(f) == wire::PacketType::connect && f[42] != std::byte{0} && n++ < 3;
  };
  // The answering side sends before the asking side knows of the connection.
  Request* r = connect_start(*a, *b);
  ASSERT_TRUE(network.run_until([&] { return (*b)->peer_count() == 2; }));
  to_a = (*b)->find_peer((*a)->config().nic, 0);
  exchange(*b, to_a, *a, 5000);
  EXPECT_EQ(wait(*a, r).status, Status::success);
}

// Two endpoints connect to each other, one with a wrong key. The refusal says that the peer knows no count of
// this side yet. It must not end the conversation that the peer's own connect has begun meanwhile.
TEST_F(Connect, connect__refused_while_the_peer_connects) {
  a = &network.add({});
  b = &network.add({});
  a->paused = true;
  Request* theirs = connect_start(*b, *a);
  network.run_for(kMillisecond / 10);
  Request* ours = connect_start(*a, *b, 1);
  network.run_for(kMillisecond / 10);
  a->paused = false;
  EXPECT_EQ(wait(*a, ours).status, Status::bad_key);
  const Completion connected = wait(*b, theirs);
  ASSERT_EQ(connected.status, Status::success);
  exchange(*b, connected.peer, *a, 10);
  EXPECT_EQ(a->counters[Counter::peer_restarted], 0U);
}

TEST_F(Connect, connect__wrong_key_changes_nothing) {
  Config keyed;
  keyed.key = 5;
  a = &network.add({});
  b = &network.add(keyed);
  const Completion refused = wait(*a, connect_start(*a, *b, 6));
  EXPECT_EQ(refused.status, Status::bad_key);
  EXPECT_EQ((*b)->peer_count(), 1U) << "an unknown peer leaves no trace";
  EXPECT_EQ(wait(*a, connect_start(*a, *b, 5)).status, Status::success);
  to_b = refused.peer;
  to_a = (*b)->find_peer((*a)->config().nic, 0);
  exchange(*a, to_b, *b, 100);
  EXPECT_EQ(wait(*a, connect_start(*a, *b, 6)).status, Status::bad_key);
  exchange_both_ways();
}

TEST_F(Connect, connect__back_keeps_numbers) {
  open({}, {}, false);
  for (int i = 0; i < 5; i++) exchange(*a, to_b, *b, 10);
  for (int i = 0; i < 3; i++) exchange(*b, to_a, *a, 10);
  EXPECT_EQ(connect(network, *b, *a), to_a);
  exchange_both_ways();
}

TEST_F(Connect, connect__one_way_carries_large_messages) {
  for (const bool extension : {true, false}) {
    Config config;
    config.extension = extension;
    network.clear();
    open(config, config, false);
    exchange(*b, to_a, *a, 300000);
    exchange(*a, to_b, *b, 300000);
  }
}

TEST_F(Connect, connect__to_itself_ignores_the_key) {
  Config keyed;
  keyed.key = 5;
  a = &network.add(keyed);
  const Completion c = wait(*a, connect_start(*a, *a, 9));
  EXPECT_EQ(c.status, Status::success);
  EXPECT_EQ(c.peer, (*a)->self());
  EXPECT_EQ(network.frames_sent, 0U);
}

TEST_F(Connect, connect__endpoint_number_too_large) {
  Config config;
  config.max_endpoints = 8;
  a = &network.add(config);
  const auto r = (*a)->connect(network.now, 1, 8, 0, 0, nullptr, false);
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error(), OpError::bad_endpoint_id);
}

TEST_F(Connect, connect__forgotten_still_connects) {
  a = &network.add({});
  b = &network.add({});
  const auto r = (*a)->connect(network.now, (*b)->config().nic, 0, 0, 0, nullptr, true);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(*r, nullptr);
  to_b = (*a)->find_peer((*b)->config().nic, 0);
  ASSERT_TRUE(network.run_until([&] { return to_b->connected(); }));
  EXPECT_EQ((*a)->peek_done(), nullptr);
  EXPECT_EQ((*a)->state().memory.requests.live(), 0U);
}

TEST_F(Connect, connect__unanswered_ends_when_its_time_is_over) {
  a = &network.add({});
  (*a)->set_timeout(nullptr, 3 * kSecond);
  const TimeNs start = network.now;
  Request* r = (*a)->connect(start, 0x99, 0, 0, 7, nullptr, false).value();
  const Completion c = wait(*a, r);
  EXPECT_EQ(c.status, Status::endpoint_unreachable);
  EXPECT_EQ(c.match_info, 7U);
  EXPECT_NEAR(static_cast<double>(network.now - start), 3e9, 1e8);
  EXPECT_FALSE(network.step()) << "nothing is left to do";
}

TEST_F(Connect, connect__silent_for_ever_without_limit) {
  a = &network.add({});
  (*a)->set_timeout(nullptr, kNever);
  Request* r = (*a)->connect(network.now, 0x99, 0, 0, 7, nullptr, false).value();
  network.run_for(3600 * kSecond);
  EXPECT_FALSE((*a)->done(r));
  EXPECT_LT(network.frames_sent, 7300U);
}

Bytes connect_frame(const Host& from, const Host& to, const wire::Connect& packet) {
  return hand_made(from.endpoint->config().nic, to.endpoint->config().nic, wire::PacketType::connect,
                   [&](std::byte* out, const wire::Head& head) { return encode_connect(out, head, packet); });
}

TEST_F(Connect, reply_received__unknown_status_or_session_is_ignored) {
  a = &network.add({});
  b = &network.add({});
  network.faults.drop = drop_all(wire::PacketType::connect);
  Request* r = connect_start(*a, *b);
  wire::Connect reply;
  reply.is_reply = true;
  reply.src_session = (*a)->config().session;
  reply.key_or_target_session = (*b)->config().session;
  reply.target_recv_seqnum_start = 1;
  reply.status = 3;
  network.inject(connect_frame(*b, *a, reply));
  reply.status = 0;
  reply.connect_seqnum = 9;
  network.inject(connect_frame(*b, *a, reply));
  reply.connect_seqnum = 0;
  reply.src_session++;
  network.inject(connect_frame(*b, *a, reply));
  network.run_for(kSecond);
  EXPECT_FALSE((*a)->done(r));
  reply.src_session--;
  network.inject(connect_frame(*b, *a, reply));
  EXPECT_EQ(wait(*a, r, kSecond).status, Status::success);
}

TEST_F(Connect, connect_received__own_request_reflected_by_a_switch) {
  a = &network.add({});
  wire::Connect request;
  request.src_session = (*a)->config().session;
  network.inject(connect_frame(*a, *a, request));
  network.run_for(kSecond);
  EXPECT_EQ(network.frames_sent, 0U);
  EXPECT_EQ((*a)->peer_count(), 1U);
}

// --- a peer that restarts on the same endpoint ---

struct Restart {
  bool extension;
  bool sent_before;  // numbers are not at their start
  bool new_one_connects;
};

class Restarted : public PairTest, public testing::WithParamInterface<Restart> {
 protected:
  Config open_both() {
    Config config;
    config.extension = GetParam().extension;
    open(config, config);
    if (GetParam().sent_before) exchange_both_ways();
    return config;
  }
  // Starts a large send that b knows, and that waits for b's NOTIFY.
  Request* send_waiting_for_notify() {
    Request* pending = send(*a, to_b, message(500000), 1);
    EXPECT_TRUE(network.run_until([&] { return (*b)->probe(1, ~0ULL).has_value(); }));
    network.run_for(100 * kMillisecond);  // acknowledged
    return pending;
  }
  void connect_again() {
    if (GetParam().new_one_connects) {
      to_a = connect(network, *b, *a);
    } else {
      EXPECT_EQ(connect(network, *a, *b), to_b);
      to_a = (*b)->find_peer((*a)->config().nic, 0);
    }
  }
};

TEST_P(Restarted, restart__old_address_fails_and_reconnecting_works) {
  const Config config = open_both();
  for (std::uint32_t round = 0; round < 3; round++) {
    const std::uint32_t old_session = (*b)->config().session;
    Bytes& big = message(500000);
    Bytes& in = room(500000);
    Request* pending = send(*a, to_b, big, 1);
    Request* unmatched = receive(*a, in, 2);
    network.run_for(100 * kMillisecond);
    b = &network.restart(1, with_session(0x2000 + round, config));
    // With the old address the new instance refuses the message, and so does our own check afterwards.
    SendOp op;
    op.peer = to_b;
    op.session = old_session;
    EXPECT_EQ(wait(*a, (*a)->send(network.now, op).value()).status, Status::success) << "buffered";
    EXPECT_EQ(wait(*a, pending, 10 * kSecond).status, Status::bad_session);
    EXPECT_EQ(wait(*a, (*a)->send(network.now, op).value()).status, Status::bad_session);
    connect_again();
    ASSERT_NE(to_a, nullptr);
    EXPECT_EQ(wait(*a, (*a)->send(network.now, op).value()).status, Status::bad_session);
    EXPECT_TRUE(*(*a)->cancel(unmatched)) << "receives from anybody survive";
    exchange_both_ways();
  }
}

TEST_P(Restarted, restart__noticed_by_connecting_only) {
  const Config config = open_both();
  Request* pending = send_waiting_for_notify();
  b = &network.restart(1, with_session(0x2000, config));
  connect_again();
  EXPECT_EQ(wait(*a, pending, kSecond).status, Status::endpoint_unreachable);
  exchange_both_ways();
}

// The old instance's large send waits for NOTIFY. The request for a sign of life finds another instance.
TEST_P(Restarted, restart__noticed_by_a_ping) {
  const Config config = open_both();
  Request* pending = send_waiting_for_notify();
  b = &network.restart(1, with_session(0x2000, config));
  EXPECT_EQ(wait(*a, pending, 10 * kSecond).status, Status::endpoint_unreachable);
  network.run_for(kSecond);
  connect_again();
  exchange_both_ways();
}

INSTANTIATE_TEST_SUITE_P(All, Restarted,
                         testing::Values(Restart{true, false, false}, Restart{true, false, true},
                                         Restart{true, true, false}, Restart{true, true, true},
                                         Restart{false, true, false}, Restart{false, true, true}));

// omx_sim --workload churn --seed 1962
TEST_F(Connect, restart__late_request_of_the_instance_before_changes_nothing) {
  for (const bool both_restart : {false, true}) {
    network.clear();
    open();
    exchange_both_ways();
    Bytes late;
    network.faults.drop = [&](const Bytes& frame) {
      wire::Connect packet;
      if (!is_connect(frame, false, packet) || packet.src_session != (*b)->config().session) return false;
      late = frame;
      return true;
    };
    connect_start(*b, *a);
    network.run_for(kMillisecond);
    network.faults.drop = nullptr;
    ASSERT_FALSE(late.empty());
    if (both_restart) a = &network.restart(0, with_session(0x3000));
    b = &network.restart(1, with_session(0x2000));
    to_b = connect(network, *a, *b);
    to_a = connect(network, *b, *a);
    ASSERT_TRUE(to_a && to_b);
    const std::uint64_t restarts = a->counters[Counter::peer_restarted];
    network.inject(late);
    network.run_for(kMillisecond);
    EXPECT_EQ(a->counters[Counter::peer_restarted], restarts);
    EXPECT_TRUE(to_b->connected());
    exchange_both_ways();
  }
}

// Takes requests to connect off the network.
struct RequestTrap {
  explicit RequestTrap(Network& network) {
    network.faults.drop = [this](const Bytes& frame) {
      wire::Connect packet;
      if (!is_connect(frame, false, packet)) return false;
      taken = frame;
      return true;
    };
  }
  Bytes taken;
};

// omx_sim --workload churn --seed 7970. The late request left before the answer to the first one, so it names
// no count of its receiver.
TEST_F(Connect, restart__late_first_request_of_the_instance_before_changes_nothing) {
  a = &network.add({});
  b = &network.add({});
  connect_start(*b, *a);
  RequestTrap trap(network);
  connect_start(*b, *a);
  network.faults.drop = nullptr;
  network.run_for(kMillisecond);
  b = &network.restart(1, with_session(0x2000));
  to_b = connect(network, *a, *b);
  to_a = connect(network, *b, *a);
  ASSERT_TRUE(to_a && to_b);
  const std::uint64_t restarts = a->counters[Counter::peer_restarted];
  ASSERT_FALSE(trap.taken.empty());
  network.inject(trap.taken);
  network.run_for(kMillisecond);
  EXPECT_EQ(a->counters[Counter::peer_restarted], restarts);
  EXPECT_TRUE(to_b->connected());
  exchange_both_ways();
}

// Here the late request comes from an instance that its receiver never knew. The receiver believes that the
// present one is over, until it asks.
TEST_F(Connect, restart__present_instance_that_was_taken_for_the_one_before_is_heard_again) {
  a = &network.add({});
  b = &network.add({});
  Bytes late;
  {
    RequestTrap trap(network);
    connect_start(*b, *a);
    late = trap.taken;
  }
  b = &network.restart(1, with_session(0x2000));
  network.faults.drop = [](const Bytes& frame) {
    wire::Connect packet;
    return is_connect(frame, true, packet);
  };
  Request* r = connect_start(*b, *a);
  network.run_for(kMillisecond);
  network.inject(late);
  network.run_for(kMillisecond);
  to_b = (*a)->find_peer((*b)->config().nic, 0);
  ASSERT_NE(to_b, nullptr);
  EXPECT_EQ(to_b->session.ended_session, 0x2000U);
  network.faults.drop = nullptr;
  EXPECT_EQ(wait(*b, r, 5 * kSecond).status, Status::success);
  to_a = (*b)->find_peer((*a)->config().nic, 0);
  EXPECT_EQ(to_b->session.true_session, 0x2000U);
  exchange_both_ways();
}

TEST_F(Connect, restart__connect_under_way_survives_the_refusal_of_an_older_message) {
  open();
  exchange_both_ways();
  b = &network.restart(1, with_session(0x2000));
  Bytes& data = message(10);
  send(*a, to_b, data, 1);
  EXPECT_EQ(wait(*a, connect_start(*a, *b)).status, Status::success);
  to_a = (*b)->find_peer((*a)->config().nic, 0);
  exchange_both_ways();
}

}  // namespace
}  // namespace omx::protocol::test
