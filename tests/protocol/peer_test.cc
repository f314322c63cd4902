// SPDX-License-Identifier: BSD-3-Clause
// Losing peers: a dead peer ends every request in time, a slow one ends none. After one side gave up, both
// sides connect again.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class PeerTest : public PairTest {};

TEST_F(PeerTest, peer_find__many) {
  a = &network.add({});
  for (std::uint64_t i = 0; i < 1000; i++)
    for (const std::uint8_t endpoint : {0, 31})
      (void)(*a)->connect(network.now, 0x5000 + i, endpoint, 0, 0, nullptr, true);
  for (std::uint64_t i = 0; i < 1000; i++) {
    for (const std::uint8_t endpoint : {0, 31}) {
      Peer* p = (*a)->find_peer(0x5000 + i, endpoint);
      ASSERT_NE(p, nullptr);
      EXPECT_EQ(peer_info(p).nic, 0x5000 + i);
      EXPECT_EQ(peer_info(p).endpoint, endpoint);
      EXPECT_EQ((*a)->peer_at(peer_info(p).index), p);
    }
    EXPECT_EQ((*a)->find_peer(0x5000 + i, 1), nullptr);
  }
  EXPECT_EQ((*a)->peer_at(2001), nullptr);
}

// --- every kind of pending request ---

enum class Kind {
  tiny,
  small,
  medium,
  throttled,
  rndv_unacked,
  await_notify,
  region_wait,
  pulling,
  half_medium,
  half_medium_claimed,
  connecting
};
struct Pending {
  Kind kind;
  bool extension;
};
std::string pending_name(const testing::TestParamInfo<Pending>& info) {
  static const char* kNames[] = {
      "tiny",        "small",   "medium",      "throttled",           "rndv_unacked", "await_notify",
      "region_wait", "pulling", "half_medium", "half_medium_claimed", "connecting"};
  return std::string(kNames[static_cast<int>(info.param.kind)]) + (info.param.extension ? "" : "_legacy");
}

class PendingTest : public PairTest, public testing::WithParamInterface<Pending> {
 protected:
  static constexpr TimeNs kTimeout = 5 * kSecond;

  // Starts a request of A that waits for B. B hears nothing from `deaf` on, if that is set.
  void start(TimeNs per_request) {
    Config config;
    config.extension = GetParam().extension;
    config.buffered_sends_max = 0;  // a send is done when acknowledged
    config.reliability.peer_timeout = per_request ? 500 * kSecond : kTimeout;
    open(config, config);
    switch (GetParam().kind) {
      case Kind::tiny:
        stop();
        add(*a, send(*a, to_b, message(8), 1));
        break;
      case Kind::small:
        stop();
        add(*a, send(*a, to_b, message(100), 1));
        break;
      case Kind::medium:
        stop();
        add(*a, send(*a, to_b, message(20000), 1));
        break;
      case Kind::throttled:
        stop();
        for (int i = 0; i < 1000; i++) add(*a, send(*a, to_b, message(8), 1));
        break;
      case Kind::rndv_unacked:
        stop();
        add(*a, send(*a, to_b, message(8), 1, true));
        break;
      case Kind::await_notify:
        add(*a, send(*a, to_b, message(100000), 1));
        network.run_for(100 * kMillisecond);
        stop();
        break;
      case Kind::region_wait: {
        // Sends to a third endpoint, which lives and does not receive, take all regions.
        Host& c = network.add({});
        Peer* to_c = connect(network, *a, c);
        for (int i = 0; i < 256; i++) (void)send(*a, to_c, message(100000), 1);
        network.run_for(100 * kMillisecond);
        stop();
        add(*a, send(*a, to_b, message(100000), 1));
        break;
      }
      case Kind::pulling:
        network.faults.drop = [n = 0](const Bytes& f) mutable {
          return type_of(f) == wire::PacketType::pull_reply && n++ > 20;
        };
        add(*a, receive(*a, room(400000), 1));
        (void)send(*b, to_a, message(400000), 1);
        network.run_for(kMillisecond);
        stop();
        network.faults.drop = nullptr;
        break;
      case Kind::half_medium:
      case Kind::half_medium_claimed:
        network.faults.drop = [n = 0](const Bytes& f) mutable {
          return type_of(f) == wire::PacketType::medium && n++ > 2;
        };
        if (GetParam().kind == Kind::half_medium) add(*a, receive(*a, room(20000), 1));
        (void)send(*b, to_a, message(20000), 1);
        network.run_for(kMillisecond);
        stop();
        network.faults.drop = nullptr;
        if (GetParam().kind == Kind::half_medium_claimed) add(*a, receive(*a, room(20000), 1));
        break;
      case Kind::connecting:
        stop();
        add(*a, connect_start(*a, *b));
        break;
    }
    stopped = network.now;
    if (per_request)
      for (Request* r : requests) (*a)->set_timeout(r, per_request);
  }
  void stop() { b->paused = true; }
  void add(Host&, Request* r) { requests.push_back(r); }
  bool all_done() {
    for (Request* r : requests)
      if (!(*a)->done(r)) return false;
    return true;
  }
  void expect_all_fail_at(TimeNs limit) {
    network.kill(1);
    b = nullptr;
    ASSERT_TRUE(network.run_until([&] { return (*a)->done(requests[0]); }, 2 * limit));
    const TimeNs took = network.now - stopped;
    EXPECT_GE(took, limit - 200 * kMillisecond);
    // Legacy peers are pinged every half second only.
    EXPECT_LE(took, limit + kSecond + 500 * kMillisecond);
    ASSERT_TRUE(all_done());
    for (Request* r : requests) EXPECT_EQ((*a)->consume(r).status, Status::endpoint_unreachable);
    EXPECT_EQ((*a)->peek_done(), nullptr);
    const State& s = (*a)->state();
    // The NOTIFY that reports a failed pull has its own time limit.
    if (GetParam().kind == Kind::pulling) {
      EXPECT_TRUE(network.run_until([&] { return s.completion.buffered_sends == 0; }, 2 * limit));
    }
    EXPECT_EQ(s.completion.buffered_sends, 0U);
    EXPECT_EQ(s.memory.pulls.live(), 0U);
    EXPECT_EQ(s.memory.reorder_buffers.live(), 0U);
    EXPECT_EQ(to_b->tx.frames_unacked, 0U);
    if (GetParam().kind != Kind::region_wait) {
      EXPECT_EQ(s.memory.requests.live(), 0U);
      EXPECT_EQ(s.regions.used(), 0U);
      EXPECT_TRUE(network.run_until([&] { return (*a)->next_deadline() == kNever; }, 100 * kSecond));
    }
  }

  std::vector<Request*> requests;
  TimeNs stopped = 0;
};

TEST_P(PendingTest, dead_peer__fails_at_the_default_limit) {
  start(0);
  expect_all_fail_at(kTimeout);
}

TEST_P(PendingTest, dead_peer__fails_at_the_limit_of_the_request) {
  start(2 * kSecond);
  expect_all_fail_at(2 * kSecond);
}

TEST_P(PendingTest, slow_peer__fails_nothing) {
  start(0);
  network.run_for(kTimeout - 500 * kMillisecond);
  b->paused = false;
  if (GetParam().kind == Kind::region_wait) {
    for (int i = 0; i < 256; i++) (void)receive(*network.hosts[2], room(100000), 1);
    (void)receive(*b, room(100000), 1);
  } else if (GetParam().kind < Kind::pulling) {
    for (std::size_t i = 0; i < requests.size(); i++) (void)receive(*b, room(100000), 1);
  }
  ASSERT_TRUE(network.run_until([&] { return all_done(); }, 60 * kSecond));
  for (Request* r : requests) EXPECT_EQ((*a)->consume(r).status, Status::success);
}

std::vector<Pending> all_pending() {
  std::vector<Pending> all;
  for (int k = 0; k <= static_cast<int>(Kind::connecting); k++)
    for (const bool extension : {true, false}) all.push_back({static_cast<Kind>(k), extension});
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, PendingTest, testing::ValuesIn(all_pending()), pending_name);

// --- living peers that are quiet ---

TEST_F(PeerTest, timeout__a_living_receiver_may_take_for_ever) {
  Config config;
  config.reliability.peer_timeout = 2 * kSecond;
  open(config, config);
  Bytes& out = message(100000);
  Request* large = send(*a, to_b, out, 1);
  network.run_for(100 * kSecond);
  EXPECT_FALSE((*a)->done(large));
  (void)receive(*b, room(100000), 1);
  EXPECT_EQ(wait(*a, large).status, Status::success);
}

TEST_F(PeerTest, timeout__not_shorter_than_the_first_answer_takes) {
  // One client sets one millisecond as its default (docs/spec/mx-clients.md 18). Legacy peers acknowledge
  // after 16 ms.
  for (const bool extension : {true, false}) {
    Config config;
    config.extension = extension;
    config.buffered_sends_max = 0;
    network.clear();
    open(config, config);
    (*a)->set_timeout(nullptr, kMillisecond);
    Request* s = send(*a, to_b, message(8), 1);
    EXPECT_EQ(wait(*a, s).status, Status::success);
    // Lost frames do not end a conversation either: up to two repetitions may be lost, too.
    for (const int lost : {1, 2, 3}) {
      network.faults.drop = drop_next(wire::PacketType::tiny, lost);
      s = send(*a, to_b, message(8), 1);
      EXPECT_EQ(wait(*a, s).status, Status::success) << lost << (extension ? " extended" : " legacy");
    }
    network.faults.drop = drop_next(wire::PacketType::pull_reply, 2);
    Request* r = receive(*a, room(100000), 3);
    (void)send(*b, to_a, message(100000), 3);
    EXPECT_EQ(wait(*a, r).status, Status::success);
    network.faults.drop = nullptr;
  }
}

TEST_F(PeerTest, timeout__a_peer_without_its_processor_for_some_milliseconds_is_kept) {
  for (const std::size_t length : {8, 100000}) {
    network.clear();
    open({}, {});
    (*a)->set_timeout(nullptr, kMillisecond);
    Request* s = send(*a, to_b, message(length), 1, true);
    network.run_for(5 * kMillisecond);
    b->paused = true;
    network.run_for(15 * kMillisecond);
    b->paused = false;
    (void)receive(*b, room(length), 1);
    EXPECT_EQ(wait(*a, s).status, Status::success) << length;
  }
}

TEST_F(PeerTest, timeout__of_a_millisecond_ends_a_dead_peer_soon_all_the_same) {
  for (const bool extension : {true, false}) {
    Config config;
    config.extension = extension;
    network.clear();
    open(config, config);
    (*a)->set_timeout(nullptr, kMillisecond);
    Request* s = send(*a, to_b, message(100000), 1);
    network.run_for(20 * kMillisecond);  // the message is announced and acknowledged
    b->paused = true;
    EXPECT_TRUE(
        network.run_until([&] { return (*a)->done(s); }, extension ? 100 * kMillisecond : 3 * kSecond));
  }
}

TEST_F(PeerTest, timeout__our_own_pause_is_not_the_peer_s_silence) {
  Config config;
  config.buffered_sends_max = 0;
  open(config, config);
  (*a)->set_timeout(nullptr, 2 * kSecond);
  Request* s = send(*a, to_b, message(8), 1);
  Request* r = receive(*a, room(400000), 2);
  network.faults.drop = [n = 0](const Bytes& f) mutable {
    if (type_of(f) == wire::PacketType::pull_reply) return n++ > 10;
    return type_of(f) == wire::PacketType::truc;
  };
  (void)send(*b, to_a, message(400000), 2);
  network.run_for(kMillisecond / 2);
  a->paused = true;
  network.run_for(60 * kSecond);  // the application computes
  network.faults.drop = nullptr;
  a->paused = false;
  EXPECT_EQ(wait(*a, s).status, Status::success);
  EXPECT_EQ(wait(*a, r).status, Status::success);
}

TEST_F(PeerTest, set_timeout__posted_receives_do_not_expire) {
  open();
  Request* r = receive(*a, room(10), 1);
  (*a)->set_timeout(r, kMillisecond);
  (*a)->set_timeout(nullptr, kMillisecond);
  network.run_for(kSecond);
  EXPECT_FALSE((*a)->done(r));
  EXPECT_TRUE(*(*a)->cancel(r));
}

// --- one side gave up ---

enum class Who { the_one_that_gave_up, the_other, both, ping_then_the_other };

class GiveUp : public PairTest, public testing::WithParamInterface<std::tuple<Who, bool>> {};

TEST_P(GiveUp, one_sided__reconnects_in_both_directions) {
  const auto [who, with_pending] = GetParam();
  open();
  for (int i = 0; i < 3; i++) {
    exchange_both_ways();
    // B keeps a large send to A pending, so that it notices by itself.
    Request* pending = with_pending ? send(*b, to_a, message(100000), 999) : nullptr;
    network.run_for(100 * kMillisecond);
    (*a)->disconnect(network.now, to_b);
    EXPECT_EQ(wait(*a,
                   [&] {
                     SendOp op;
                     op.peer = to_b;
                     return (*a)->send(network.now, op).value();
                   }())
                  .status,
              Status::endpoint_unreachable);
    if (who == Who::ping_then_the_other) network.run_for(5 * kSecond);
    Request* ab = who == Who::the_one_that_gave_up || who == Who::both ? connect_start(*a, *b) : nullptr;
    Request* ba = who != Who::the_one_that_gave_up ? connect_start(*b, *a) : nullptr;
    if (ab) {
      EXPECT_EQ(wait(*a, ab, 10 * kSecond).status, Status::success);
    }
    if (ba) {
      EXPECT_EQ(wait(*b, ba, 10 * kSecond).status, Status::success);
    }
    if (pending) {
      EXPECT_EQ(wait(*b, pending, 10 * kSecond).status, Status::endpoint_unreachable);
    }
    exchange_both_ways();
  }
}

INSTANTIATE_TEST_SUITE_P(All, GiveUp,
                         testing::Combine(testing::Values(Who::the_one_that_gave_up, Who::the_other,
                                                          Who::both, Who::ping_then_the_other),
                                          testing::Bool()));

TEST_F(PeerTest, one_sided__the_other_learns_it_long_before_its_own_limit) {
  Config config;
  config.buffered_sends_max = 0;
  open(config, config);
  exchange_both_ways();
  (*a)->disconnect(network.now, to_b);
  Request* s = send(*b, to_a, message(8), 1);
  EXPECT_EQ(wait(*b, s, 20 * kSecond).status, Status::endpoint_unreachable);
}

TEST_F(PeerTest, disconnect__fails_all_that_is_pending) {
  open();
  Request* large = send(*a, to_b, message(100000), 1);
  Request* half = receive(*a, room(20000), 2);
  network.faults.drop = [n = 0](const Bytes& f) mutable {
    return type_of(f) == wire::PacketType::medium && n++ > 2;
  };
  (void)send(*b, to_a, message(20000), 2);
  network.run_for(kMillisecond);
  (*a)->disconnect(network.now, to_b);
  EXPECT_EQ((*a)->consume(large).status, Status::endpoint_unreachable);
  const Completion c = (*a)->consume(half);
  EXPECT_EQ(c.status, Status::endpoint_unreachable);
  EXPECT_EQ(c.xfer_length, 0U);
  (*a)->disconnect(network.now, (*a)->self());  // must do no harm
}

TEST_F(PeerTest, cleanup__what_was_received_whole_stays) {
  open();
  Bytes& out = message(20000);
  (void)send(*b, to_a, out, 1);
  (void)send(*b, to_a, message(100000), 2);  // only its rendezvous leaves
  ASSERT_TRUE(network.run_until([&] { return (*a)->probe(2, ~0ULL).has_value(); }));
  (*a)->disconnect(network.now, to_b);
  Bytes& in = room(20000);
  EXPECT_EQ(wait(*a, receive(*a, in, 1)).status, Status::success);
  EXPECT_EQ(in, out);
  EXPECT_FALSE((*a)->probe(2, ~0ULL));
}

TEST_F(PeerTest, cleanup__a_pulled_message_stays_though_its_notify_never_left) {
  // B has no answer to its CONNECT request, so it may not send a number (see legacy_test.cc).
  network.faults.drop = [](const Bytes& f) {
    return type_of(f) == wire::PacketType::connect && f[42] == std::byte{0} && f[11] == std::byte{2};
  };
  open(reference(), reference(), false);
  ASSERT_TRUE(to_a->held_back());
  Bytes& out = message(100000);
  Bytes& in = room(100000);
  Request* r = receive(*b, in, 1);
  (void)send(*a, to_b, out, 1);
  network.run_for(100 * kMillisecond);
  ASSERT_EQ(to_a->tx.notifies_queued, 1U);
  (*b)->disconnect(network.now, to_a);
  const Completion c = wait(*b, r, kSecond);
  EXPECT_EQ(c.status, Status::success);
  EXPECT_EQ(c.xfer_length, 100000U);
  EXPECT_EQ(in, out);
}

TEST_F(PeerTest, region_wait__gone_peer_does_not_take_the_wake_up) {
  open();
  Host& c = network.add({});
  Peer* to_c = connect(network, *a, c);
  std::vector<Request*> held;
  for (int i = 0; i < 256; i++) held.push_back(send(*a, to_c, message(1000), 1, true));
  Request* waits_b = send(*a, to_b, message(100000), 2);
  Request* waits_c = send(*a, to_c, message(100000), 3);
  network.run_for(100 * kMillisecond);
  (*a)->disconnect(network.now, to_b);
  EXPECT_EQ((*a)->consume(waits_b).status, Status::endpoint_unreachable);
  (void)receive(c, room(100000), 3);
  for (int i = 0; i < 256; i++) (void)receive(c, room(1000), 1);
  EXPECT_EQ(wait(*a, waits_c).status, Status::success);
  for (Request* r : held) EXPECT_EQ(wait(*a, r).status, Status::success);
}

// --- closing ---

TEST_F(PeerTest, close__with_everything_pending) {
  Config config;
  config.buffered_sends_max = 4;
  open(config, config);
  Host& c = network.add({});
  Peer* to_c = connect(network, *a, c);
  Bytes parts = pattern(1, 64);
  Segment pieces[3] = {{parts.data(), 8}, {parts.data() + 8, 8}, {parts.data() + 16, 8}};
  for (int i = 0; i < 300; i++) (void)send(*a, to_b, message(10), 1);
  for (int i = 0; i < 300; i++) (void)send(*a, to_c, message(100000), 1);
  for (int i = 0; i < 5; i++) {
    SendOp op;
    op.peer = (*a)->self();
    op.segments = pieces;
    op.forgotten = i % 2;
    (void)(*a)->send(network.now, op);
    ReceiveOp rop;
    rop.segments = pieces;
    rop.match_info = 12345;
    rop.forgotten = i % 2;
    (void)(*a)->receive(network.now, rop);
    (void)send(*b, to_a, message(20000), 7);   // unexpected at a
    (void)send(*b, to_a, message(100000), 8);  // unexpected rendezvous
  }
  (void)receive(*a, room(400000), 9);
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  (void)send(*b, to_a, message(400000), 9);  // pull running
  network.run_for(5 * kMillisecond);
  network.faults.drop = [n = 0](const Bytes& f) mutable {
    return type_of(f) == wire::PacketType::medium && n++ == 1;
  };
  (void)send(*b, to_a, message(20000), 10);  // half a message, with reordered ones behind it
  (void)send(*b, to_a, message(20000), 10);
  network.run_for(100'000);
  (void)(*a)->connect(network.now, 0x9999, 0, 0, 0, nullptr, false);
  (void)(*a)->connect(network.now, 0x9999, 0, 0, 0, nullptr, true);
  const auto sent = network.frames_sent;
  network.kill(0);
  EXPECT_EQ(network.frames_sent, sent) << "a closing endpoint says nothing more";
}

}  // namespace
}  // namespace omx::protocol::test
