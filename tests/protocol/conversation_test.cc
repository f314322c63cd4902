// SPDX-License-Identifier: BSD-3-Clause
// Conversations (docs/reference/contract.md): once a message was given up, no later message arrives. Both
// sides learn that the conversation is over, and only an application's connect begins another one.
#include "protocol/state/running_time.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class ConversationTest : public PairTest {
 protected:
  void open_with(TimeNs timeout_a, TimeNs timeout_b) {
    Config config_a, config_b;
    config_a.reliability.peer_timeout = timeout_a;
    config_b.reliability.peer_timeout = timeout_b;
    open(config_a, config_b);
    while ((*a)->news_take() || (*b)->news_take()) {
    }
  }
  void cut(TimeNs time) {
    network.faults.drop = [](const Bytes&) { return true; };
    network.run_for(time);
    network.faults.drop = nullptr;
  }
  // Lets a give up b, which lives. Returns the session of that instance.
  std::uint32_t b_given_up() {
    const std::uint32_t session = to_b->session.true_session;
    network.faults.drop = [](const Bytes&) { return true; };
    (void)send(*a, to_b, message(8), 1);
    network.run_for(10 * kSecond);
    network.faults.drop = nullptr;
    return session;
  }
  Request* send_in(Host& from, Peer* to, std::uint32_t conversation) {
    SendOp op;
    op.peer = to;
    op.match_info = 5;
    op.conversation = conversation;
    return from->send(network.now, op).value();
  }
  Request* receive_from(Host& at, Peer* source, bool reach = false,
                        std::uint32_t session = wire::kUnknownSession) {
    ReceiveOp op;
    op.match_info = 99;
    op.source = source;
    op.session = session;
    op.awaited = true;
    op.reach = reach;
    return at->receive(network.now, op).value();
  }
  static std::optional<PeerNews> ended(Host& at) {
    while (const auto news = at->news_take())
      if (news->kind == PeerNews::Kind::ended) return news;
    return std::nullopt;
  }
};

TEST_F(ConversationTest, given_up__nothing_follows_behind_the_hole) {
  open_with(2 * kSecond, 500 * kSecond);
  const std::uint32_t first = peer_info(to_b).conversation;
  Request* lost = send(*a, to_b, message(8), 1);
  EXPECT_EQ(wait(*a, lost).status, Status::success);
  network.run_for(kSecond);
  network.faults.drop = [](const Bytes&) { return true; };
  (void)(*a)->forget(send(*a, to_b, message(8), 2));
  network.run_for(10 * kSecond);
  network.faults.drop = nullptr;
  // The peer lives and can be reached, but still nothing is sent to it.
  EXPECT_EQ(wait(*a, send(*a, to_b, message(8), 3)).status, Status::endpoint_unreachable);
  // The peer learns the end when it sends something or waits for something.
  Request* back = send(*b, to_a, message(100000), 4);
  EXPECT_EQ(wait(*b, back, 10 * kSecond).status, Status::endpoint_unreachable);
  EXPECT_EQ(wait(*b, send(*b, to_a, message(8), 4)).status, Status::endpoint_unreachable);
  EXPECT_FALSE(to_a->connected());
  EXPECT_FALSE(to_b->connected());
  const auto why_a = ended(*a), why_b = ended(*b);
  ASSERT_TRUE(why_a && why_b);
  EXPECT_EQ(why_a->why, PeerNews::Why::given_up);
  EXPECT_EQ(why_a->lost, 1U);
  EXPECT_EQ(why_b->why, PeerNews::Why::abandoned);
  EXPECT_EQ(why_b->failed, 1U);
  // An application's connect begins again. Addresses of the first conversation are not valid in the second.
  EXPECT_EQ(wait(*a, connect_start(*a, *b)).status, Status::success);
  EXPECT_NE(peer_info(to_b).conversation, first);
  EXPECT_EQ(wait(*a, send_in(*a, to_b, first)).status, Status::endpoint_unreachable);
  EXPECT_EQ(wait(*a, send_in(*a, to_b, peer_info(to_b).conversation)).status, Status::success);
  exchange_both_ways();
}

TEST_F(ConversationTest, given_up__the_answer_to_a_ping_opens_nothing) {
  open_with(2 * kSecond, 500 * kSecond);
  Request* waits = receive_from(*b, to_a);  // this makes b send pings
  (void)send(*a, to_b, message(100000), 1);
  cut(10 * kSecond);
  EXPECT_FALSE(to_b->connected());
  EXPECT_EQ(wait(*b, waits, 10 * kSecond).status, Status::endpoint_unreachable);
  network.run_for(20 * kSecond);
  EXPECT_FALSE(to_a->connected());
  EXPECT_FALSE(to_b->connected());
}

TEST_F(ConversationTest, given_up__large_messages_that_wait_keep_their_place) {
  open_with(500 * kSecond, 2 * kSecond);
  Request* large = send(*a, to_b, message(100000, 1), 1);
  (void)send(*a, to_b, message(8, 2), 1);
  network.run_for(kSecond);
  Request* r = receive_from(*b, to_a);  // has another match, so that b notices the silence
  cut(10 * kSecond);
  EXPECT_EQ(wait(*b, r).status, Status::endpoint_unreachable);
  Bytes &first = room(100000), &second = room(8);
  EXPECT_EQ(wait(*b, receive(*b, first, 1)).status, Status::endpoint_unreachable);
  EXPECT_EQ(wait(*b, receive(*b, second, 1)).status, Status::success);
  EXPECT_EQ(second, message(8, 2));
  EXPECT_EQ(wait(*a, large, 20 * kSecond).status, Status::endpoint_unreachable);
}

TEST_F(ConversationTest, given_up__a_success_that_nobody_has_seen_becomes_an_error) {
  open_with(2 * kSecond, 2 * kSecond);
  network.faults.drop = [](const Bytes&) { return true; };
  Request* unseen = send(*a, to_b, message(8), 1);
  Request* seen = send(*a, to_b, message(8), 2);
  ASSERT_TRUE((*a)->done(unseen));
  EXPECT_EQ((*a)->consume(seen).status, Status::success);
  network.run_for(10 * kSecond);
  EXPECT_EQ((*a)->consume(unseen).status, Status::endpoint_unreachable);
  const auto lost = (*a)->lost_take();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->match_info, 2U);
  EXPECT_EQ(lost->length, 8U);
  EXPECT_EQ(lost->peer, to_b);
  EXPECT_FALSE((*a)->lost_take());
}

TEST_F(ConversationTest, shunned__the_same_instance_is_not_talked_to_and_another_is) {
  open_with(2 * kSecond, 500 * kSecond);
  const std::uint32_t session = b_given_up();
  const auto again = [&] {
    return (*a)->connect(network.now, (*b)->config().nic, 0, 0, 0, nullptr, false, false, session).value();
  };
  EXPECT_EQ(wait(*a, again(), 10 * kSecond).status, Status::endpoint_unreachable);
  EXPECT_FALSE(to_b->connected());
  network.run_for(10 * kSecond);
  b = &network.restart(1, with_session(0x7777));
  EXPECT_EQ(wait(*a, again(), 10 * kSecond).status, Status::success);
  to_a = (*b)->find_peer((*a)->config().nic, 0);
  ASSERT_NE(to_a, nullptr);
  exchange_both_ways();
}

TEST_F(ConversationTest, awaited__a_source_that_cannot_be_reached_ends_the_receive) {
  Config config;
  config.reliability.connect_timeout = 3 * kSecond;
  a = &network.add(config);
  to_b = (*a)->peer(0x020000000099, 1);
  Request* r = receive_from(*a, to_b, true);
  Request* only_if_it_comes = receive_from(*a, (*a)->peer(0x020000000098, 1), false);
  EXPECT_EQ(wait(*a, r, 10 * kSecond).status, Status::endpoint_unreachable);
  EXPECT_FALSE((*a)->done(only_if_it_comes));
}

TEST_F(ConversationTest, awaited__a_source_that_was_given_up_ends_the_receive_at_once) {
  open();
  exchange(*b, to_a, *a, 20);
  (void)send(*b, to_a, message(0), 7);
  network.run_for(kSecond);
  ReceiveOp op;
  op.match_info = 7;
  op.source = to_b;
  op.source_gone = Status::endpoint_unreachable;
  // Messages that have arrived are still received.
  EXPECT_EQ(wait(*a, (*a)->receive(network.now, op).value(), 0).status, Status::success);
  EXPECT_EQ(wait(*a, (*a)->receive(network.now, op).value(), 0).status, Status::endpoint_unreachable);
}

TEST_F(ConversationTest, awaited__later_messages_do_not_put_off_the_limit) {
  open_with(2 * kSecond, 500 * kSecond);
  Request* waits = receive_from(*a, to_b);
  network.faults.drop = [](const Bytes&) { return true; };
  network.run_for(1500 * kMillisecond);
  (void)send(*a, to_b, message(8), 1);
  network.run_for(1500 * kMillisecond);
  EXPECT_EQ(wait(*a, waits, 0).status, Status::endpoint_unreachable);
}

// The next conversation counts acknowledgements from 1 again.
TEST_F(ConversationTest, reopened__late_acknowledgements_of_the_last_one_hold_up_nothing) {
  open_with(2 * kSecond, 500 * kSecond);
  for (int i = 0; i < 30; i++) {
    exchange(*a, to_b, *b, 20);
    network.run_for(5 * kMillisecond);
  }
  Bytes late;
  network.faults.drop = [&](const Bytes& frame) {
    if (type_of(frame) == wire::PacketType::truc && late.empty()) late = frame;
    return type_of(frame) != wire::PacketType::small;
  };
  (void)send(*a, to_b, message(100), 1);
  network.run_for(10 * kSecond);
  network.faults.drop = nullptr;
  ASSERT_FALSE(to_b->connected());
  ASSERT_FALSE(late.empty());
  network.inject(late);
  network.run_for(kSecond);
  ASSERT_EQ(wait(*a, connect_start(*a, *b)).status, Status::success);
  SendOp op;
  op.peer = to_b;
  op.delivered = true;
  EXPECT_EQ(wait(*a, (*a)->send(network.now, op).value(), kSecond).status, Status::success);
}

TEST_F(ConversationTest, watch__a_peer_that_is_probed_for_is_given_up) {
  open_with(2 * kSecond, 500 * kSecond);
  network.faults.drop = [](const Bytes&) { return true; };
  ReceiveOp from_b;
  from_b.source = to_b;
  for (int i = 0; i < 100 && to_b->connected(); i++) {
    EXPECT_FALSE((*a)->probe(1, ~std::uint64_t{0}, to_b, 0));
    EXPECT_EQ((*a)->watch(network.now, from_b), Status::pending);
    network.run_for(100 * kMillisecond);
  }
  EXPECT_FALSE(to_b->connected());
}

TEST_F(ConversationTest, silence__is_told_once_and_so_is_its_end) {
  open_with(60 * kSecond, 60 * kSecond);
  (void)send(*a, to_b, message(100000), 1);
  network.run_for(kSecond);
  cut(30 * kSecond);
  auto news = (*a)->news_take();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->kind, PeerNews::Kind::silent);
  EXPECT_GE(news->silence, 10 * kSecond);
  EXPECT_EQ(news->patience, 60 * kSecond);
  EXPECT_FALSE((*a)->news_take());
  network.run_for(5 * kSecond);
  news = (*a)->news_take();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->kind, PeerNews::Kind::back);
  EXPECT_FALSE((*a)->news_take());
}

// A large message may wait long for its receive. Its sender owes nothing before the receiver asks for the
// data.
TEST_F(ConversationTest, silence__counts_for_a_pull_from_its_beginning) {
  open_with(60 * kSecond, 60 * kSecond);
  Request* sent = send(*a, to_b, message(100000), 1);
  network.run_for(kSecond);
  a->paused = true;  // its application computes, and the other side does not ask for a sign of life
  network.run_for(30 * kSecond);
  Request* r = receive(*b, room(100000), 1);
  network.run_for(kSecond);
  EXPECT_FALSE((*b)->news_take());
  a->paused = false;
  EXPECT_EQ(wait(*b, r, 10 * kSecond).status, Status::success);
  EXPECT_EQ(wait(*a, sent, 10 * kSecond).status, Status::success);
}

// The end of the former instance is not the end of the one that a receive names.
TEST_F(ConversationTest, awaited__a_receive_that_names_the_next_instance_waits_for_it) {
  open_with(60 * kSecond, 60 * kSecond);
  Request* of_old = receive_from(*a, to_b, true, to_b->session.true_session);
  Request* of_new = receive_from(*a, to_b, true, 0x7777);
  b = &network.restart(1, with_session(0x7777));
  EXPECT_EQ(wait(*b, connect_start(*b, *a)).status, Status::success);
  EXPECT_EQ(wait(*a, of_old, 0).status, Status::endpoint_unreachable);
  to_a = (*b)->find_peer((*a)->config().nic, 0);
  ASSERT_NE(to_a, nullptr);
  SendOp op;
  op.peer = to_a;
  op.match_info = 99;
  (void)(*b)->send(network.now, op);
  EXPECT_EQ(wait(*a, of_new, kSecond).status, Status::success);
}

// The instance that a receive names is gone, and another one was there before the receive was posted.
TEST_F(ConversationTest, awaited__a_receive_that_names_a_former_instance_ends) {
  open_with(60 * kSecond, 60 * kSecond);
  Request* of_present = receive_from(*a, to_b, true, to_b->session.true_session);
  Request* of_former = receive_from(*a, to_b, true, 0x7777);
  EXPECT_EQ(wait(*a, of_former, 30 * kSecond).status, Status::bad_session);
  network.run_for(10 * kSecond);
  EXPECT_FALSE((*a)->done(of_present));
  EXPECT_TRUE(to_b->connected());
  // A receive goes on waiting, too, while there is no connection yet.
  b = &network.restart(1, with_session(0x8888));
  network.run_for(10 * kSecond);
  a = &network.restart(0, with_session(0x9999));
  to_b = (*a)->peer((*b)->config().nic, 0);
  EXPECT_EQ(wait(*a, receive_from(*a, to_b, true, 0x7777), 30 * kSecond).status, Status::bad_session);
}

TEST_F(ConversationTest, watch__a_peer_that_cannot_be_connected_to_is_told_to_the_probes) {
  Config config;
  config.reliability.connect_timeout = 3 * kSecond;
  a = &network.add(config);
  ReceiveOp op;
  op.source = (*a)->peer(0x020000000099, 1);
  op.reach = true;
  int told = 0;
  for (int i = 0; i < 100; i++) {
    const Status status = (*a)->watch(network.now, op);
    if (status == Status::endpoint_unreachable) told++;
    network.run_for(100 * kMillisecond);
  }
  EXPECT_EQ(told, 2) << "each 4 s: one until the connect, and three until it ends";
}

// An address that was inserted before the end does not reach that instance again. One inserted after the end
// does.
TEST_F(ConversationTest, awaited__only_a_receive_that_shuns_the_instance_ends_when_it_answers) {
  open_with(2 * kSecond, 500 * kSecond);
  const std::uint32_t session = b_given_up();
  ReceiveOp op;
  op.match_info = 99;
  op.source = to_b;
  op.awaited = op.reach = true;
  op.shunned = session;
  Request* before = (*a)->receive(network.now, op).value();
  network.run_for(5 * kSecond);
  EXPECT_EQ(wait(*a, before, 0).status, Status::endpoint_unreachable);
  EXPECT_FALSE(to_b->connected());
  before = (*a)->receive(network.now, op).value();
  Request* after = receive_from(*a, to_b, true, session);
  network.run_for(5 * kSecond);
  EXPECT_EQ(wait(*a, before, 0).status, Status::endpoint_unreachable);
  EXPECT_TRUE(to_b->connected());
  EXPECT_FALSE((*a)->done(after));
  EXPECT_EQ(wait(*b, connect_start(*b, *a)).status, Status::success);
  (void)send(*b, to_a, message(0), 99);
  EXPECT_EQ(wait(*a, after).status, Status::success);
}

// A receive may wait for a peer that comes later. A connect for another receive, which expects the peer to be
// there, does not end it.
TEST_F(ConversationTest, awaited__a_failed_connect_ends_only_those_who_wanted_it) {
  Config config;
  config.reliability.connect_timeout = 3 * kSecond;
  a = &network.add(config);
  Peer* const absent = (*a)->peer(0x020000000099, 1);
  Request* later = receive_from(*a, absent, false);
  EXPECT_EQ(wait(*a, receive_from(*a, absent, true), 10 * kSecond).status, Status::endpoint_unreachable);
  network.run_for(10 * kSecond);
  EXPECT_FALSE((*a)->done(later));
}

// Messages that the former instance had sent go only to receives that name it, or that name no source.
TEST_F(ConversationTest, awaited__an_instance_takes_only_its_own_messages) {
  open_with(60 * kSecond, 60 * kSecond);
  const std::uint32_t former = to_b->session.true_session;
  (void)send(*b, to_a, message(0), 99);
  network.run_for(kSecond);
  b = &network.restart(1, with_session(0x7777));
  EXPECT_EQ(wait(*b, connect_start(*b, *a)).status, Status::success);
  Request* of_new = receive_from(*a, to_b, true, 0x7777);
  network.run_for(kSecond);
  EXPECT_FALSE((*a)->done(of_new));
  EXPECT_FALSE((*a)->probe(99, ~std::uint64_t{0}, to_b, 0, 0x7777));
  EXPECT_TRUE((*a)->probe(99, ~std::uint64_t{0}, to_b, 0, former));
  EXPECT_EQ(wait(*a, receive_from(*a, to_b, true, former)).status, Status::success);
  Request* of_former = receive_from(*a, to_b, false, former);
  to_a = (*b)->find_peer((*a)->config().nic, 0);
  (void)send(*b, to_a, message(0), 99);
  EXPECT_EQ(wait(*a, of_new).status, Status::success);
  EXPECT_FALSE((*a)->done(of_former));
}

TEST_F(ConversationTest, watch__what_is_told_to_the_probes_does_not_outlast_its_reason) {
  open_with(2 * kSecond, 500 * kSecond);
  ReceiveOp op;
  op.source = to_b;
  op.session = 0x7777;  // another instance than the one that is connected
  op.reach = true;
  Status status = Status::pending;
  for (int i = 0; i < 50 && status == Status::pending; i++) {
    status = (*a)->watch(network.now, op);
    network.run_for(100 * kMillisecond);
  }
  EXPECT_EQ(status, Status::bad_session);
  for (int i = 0; i < 5; i++) {
    EXPECT_EQ((*a)->watch(network.now, op), Status::pending);
    network.run_for(100 * kMillisecond);
  }
  // A connect for it has failed meanwhile, but for some time no caller asks.
  network.run_for(10 * kSecond);
  EXPECT_EQ((*a)->watch(network.now, op), Status::pending);
}

// --- time in which the engine was not run ---

TEST_F(ConversationTest, absence__counts_for_no_timeout) {
  open_with(2 * kSecond, 2 * kSecond);
  Request* large = send(*a, to_b, message(100000), 1);
  Bytes& in = room(100000);
  Request* r = receive(*b, in, 1);
  Request* connect = connect_start(*a, *b);
  (*a)->set_timeout(connect, kSecond);
  network.run_for(20'000);
  a->paused = b->paused = true;  // both stop in the middle, and frames on the cable are lost
  network.faults.drop = [](const Bytes&) { return true; };
  network.run_for(66 * kSecond);
  network.faults.drop = nullptr;
  a->ring.clear();
  b->ring.clear();
  a->paused = b->paused = false;
  EXPECT_EQ(wait(*a, connect, 10 * kSecond).status, Status::success);
  EXPECT_EQ(wait(*b, r, 10 * kSecond).status, Status::success);
  EXPECT_EQ(wait(*a, large, 10 * kSecond).status, Status::success);
}

// From then on the engine's time differs from its callers', so each call has to translate.
TEST_F(ConversationTest, absence__no_call_puts_the_engine_ahead_of_its_time) {
  open_with(60 * kSecond, 60 * kSecond);
  network.faults.drop = [](const Bytes&) { return true; };
  (void)send(*a, to_b, message(8), 1);
  a->paused = true;
  network.run_for(30 * kSecond);
  a->paused = false;
  network.run_for(kMillisecond);
  ASSERT_GT((*a)->state().absent, 20 * kSecond);
  (*a)->peer_unreachable(network.now, 0x020000000077, 0);
  EXPECT_EQ(time_outside((*a)->state(), (*a)->state().now), network.now);
  (*a)->rail_carrier(network.now, 0, true);
  EXPECT_EQ(time_outside((*a)->state(), (*a)->state().now), network.now);
  network.faults.drop = nullptr;
  Request* r = receive(*b, room(8), 1);
  EXPECT_EQ(wait(*b, r, 5 * kSecond).status, Status::success);
}

TEST_F(ConversationTest, absence__a_first_connect_is_tried_again_before_it_fails) {
  a = &network.add({});
  b = &network.add({});
  Request* connect = connect_start(*a, *b);
  (*a)->set_timeout(connect, 4 * kSecond);
  a->paused = true;
  network.faults.drop = [](const Bytes&) { return true; };
  network.run_for(8 * kSecond);
  network.faults.drop = nullptr;
  a->paused = false;
  EXPECT_EQ(wait(*a, connect, 10 * kSecond).status, Status::success);
}

TEST(RunningTime, enter__an_idle_engine_was_not_absent) {
  Network network;
  Host& a = network.add({});
  State& s = a->state();
  time_enter(s, 5 * kSecond);
  EXPECT_EQ(s.now, 5 * kSecond);
  time_enter(s, 500 * kSecond);  // nothing was pending
  EXPECT_EQ(s.now, 500 * kSecond);
  time_enter(s, 0);  // the caller has no time
  EXPECT_EQ(s.now, 500 * kSecond);
  Timer timer(TimerKind::ack);
  s.timers.arm_by(timer, 501 * kSecond);
  time_enter(s, 510 * kSecond);
  EXPECT_EQ(s.now, 501 * kSecond + kLatenessMost);
  EXPECT_EQ(time_outside(s, s.now), 510 * kSecond);
  EXPECT_EQ(a->next_deadline(), 501 * kSecond + s.absent);
  s.timers.cancel(timer);
}

}  // namespace
}  // namespace omx::protocol::test
