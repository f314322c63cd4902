// SPDX-License-Identifier: BSD-3-Clause
// Unexpected handler, messages to the endpoint itself, and the calls that a handler may make.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class Handler : public PairTest {
 protected:
  struct Call {
    Arrival arrival;
    Bytes data;
  };
  void handle(Host& host, std::function<HandlerAction(const Arrival&)> reaction) {
    react_ = std::move(reaction);
    host->set_unexpected_handler(
        [](void* self, const Arrival& arrival) {
          auto& t = *static_cast<Handler*>(self);
          Call call{arrival, {}};
          if (arrival.data) call.data.assign(arrival.data, arrival.data + arrival.msg_length);
          t.calls.push_back(call);
          return t.react_(arrival);
        },
        this);
  }
  std::vector<Call> calls;

 private:
  std::function<HandlerAction(const Arrival&)> react_;
};

TEST_F(Handler, data__only_when_the_message_is_in_one_frame) {
  open();
  handle(*b, [](const Arrival&) { return HandlerAction::finished; });
  struct Case {
    std::size_t length;
    bool synchronous, data;
  };
  for (const Case& c : {Case{8, false, true}, Case{100, false, true}, Case{1000, false, true},
                        Case{5000, false, false}, Case{100000, false, false}, Case{8, true, false}}) {
    calls.clear();
    Bytes& out = message(c.length);
    Request* s = send(*a, to_b, out, 3, c.synchronous);
    ASSERT_TRUE(network.run_until([&] { return !calls.empty(); }, kSecond));
    EXPECT_EQ(calls[0].arrival.peer, to_a);
    EXPECT_EQ(calls[0].arrival.session, (*a)->config().session);
    EXPECT_EQ(calls[0].arrival.match_info, 3U);
    EXPECT_EQ(calls[0].arrival.msg_length, c.length);
    EXPECT_EQ(calls[0].arrival.data != nullptr, c.data) << c.length;
    if (c.data) {
      EXPECT_EQ(calls[0].data, out);
    }
    // A rendezvous that no handler or receive takes ends with nothing transferred.
    const Completion done = wait(*a, s, kSecond);
    EXPECT_EQ(done.status, c.synchronous || c.length > 32768 ? Status::truncated : Status::success);
    network.run_for(10 * kMillisecond);
    EXPECT_EQ(calls.size(), 1U);
    EXPECT_FALSE((*b)->probe(0, 0));
  }
  network.run_for(kSecond);
  EXPECT_EQ((*b)->state().memory.requests.live(), 0U);
  EXPECT_EQ((*b)->state().memory.unexpected_slab.live(), 0U);
}

TEST_F(Handler, proceed__queues_the_message) {
  open();
  handle(*b, [](const Arrival&) { return HandlerAction::proceed; });
  for (const std::size_t length : {8, 5000, 100000}) {
    Bytes& out = message(length);
    Bytes& in = room(length);
    (void)send(*a, to_b, out, 3);
    ASSERT_TRUE(network.run_until([&] { return (*b)->probe(3, ~0ULL).has_value(); }, kSecond));
    EXPECT_EQ(wait(*b, receive(*b, in, 3)).status, Status::success);
    EXPECT_EQ(in, out);
  }
  EXPECT_EQ(calls.size(), 3U);
}

TEST_F(Handler, not_called__for_matched_messages) {
  open();
  handle(*b, [](const Arrival&) { return HandlerAction::finished; });
  exchange(*a, to_b, *b, 10);
  exchange(*a, to_b, *b, 100000);
  EXPECT_TRUE(calls.empty());
}

TEST_F(Handler, receive_posted_inside__takes_the_message) {
  open();
  for (const std::size_t length : {8, 100, 1000, 5000, 100000}) {
    Bytes& in = room(length);
    Request* r = nullptr;
    handle(*b, [&](const Arrival&) {
      r = receive(*b, in, 3);
      return HandlerAction::proceed;
    });
    Bytes& out = message(length);
    Request* s = send(*a, to_b, out, 3);
    ASSERT_TRUE(network.run_until([&] { return r && (*b)->done(r) && (*a)->done(s); }, kSecond));
    EXPECT_EQ((*b)->consume(r).status, Status::success);
    EXPECT_EQ(in, out);
  }
}

TEST_F(Handler, send_inside__answers_arrive_in_order_with_losses) {
  open();
  network.faults.loss = 0.05;
  handle(*b, [&](const Arrival& arrival) {
    Bytes& out = message(arrival.match_info % 2 ? 20 : 3000, arrival.match_info);
    Segment s = segment(out);
    SendOp op;
    op.peer = arrival.peer;
    op.segments = {&s, 1};
    op.match_info = arrival.match_info;
    op.forgotten = true;
    (void)(*b)->send(network.now, op);
    return HandlerAction::finished;
  });
  for (std::uint64_t i = 0; i < 300; i++) (void)send(*a, to_b, message(i % 3 ? 20 : 5000), i, i % 50 == 0);
  for (std::uint64_t i = 0; i < 300; i++) {
    const Completion c = wait(*a, receive(*a, room(3000), 0, 0));
    ASSERT_EQ(c.match_info, i);
  }
  EXPECT_EQ(calls.size(), 300U) << "each message is shown once";
}

TEST_F(Handler, lost_rest__of_a_consumed_medium_does_not_call_again) {
  open();
  handle(*b, [](const Arrival&) { return HandlerAction::finished; });
  network.faults.drop = [n = 0](const Bytes& f) mutable {
    return type_of(f) == wire::PacketType::medium && n++ == 1;
  };
  (void)send(*a, to_b, message(10000), 3);
  network.run_for(kSecond);
  EXPECT_EQ(calls.size(), 1U);
  EXPECT_TRUE((*a)->drained());
}

TEST_F(Handler, no_memory__handler_is_asked_only_when_the_message_could_be_kept) {
  Config small;
  small.buffer_bytes = 4096;
  small.parks = false;
  open({}, small);
  handle(*b, [](const Arrival&) { return HandlerAction::proceed; });
  for (int i = 0; i < 100; i++) (void)send(*a, to_b, message(100), 1);
  network.run_for(kSecond);
  EXPECT_LT(calls.size(), 40U);
  for (int i = 0; i < 100; i++)
    EXPECT_EQ(wait(*b, receive(*b, room(100), 1), 10 * kSecond).status, Status::success);
  EXPECT_LE(calls.size(), 100U);
}

TEST_F(Handler, peer_dropped_inside__leaves_it_dropped) {
  open();
  for (const std::size_t length : {8, 1000, 5000, 100000}) {
    bool first = true;
    handle(*b, [&](const Arrival& arrival) {
      if (first) (*b)->disconnect(network.now, arrival.peer);
      first = false;
      return HandlerAction::finished;
    });
    (void)send(*a, to_b, message(length), 1);
    ASSERT_TRUE(network.run_until([&] { return !first; }, kSecond));
    EXPECT_FALSE(to_a->connected());
    EXPECT_EQ(to_a->rx.partial, nullptr);
    EXPECT_NE(connect(network, *b, *a), nullptr);
    EXPECT_NE(connect(network, *a, *b), nullptr);
    exchange_both_ways();
  }
}

TEST_F(Handler, peer_dropped_inside__a_large_message_of_it_has_no_data) {
  open();
  handle(*b, [&](const Arrival& arrival) {
    (*b)->disconnect(network.now, arrival.peer);
    return HandlerAction::proceed;
  });
  (void)send(*a, to_b, message(100000), 1);
  ASSERT_TRUE(network.run_until([&] { return !calls.empty(); }, kSecond));
  const Completion c = wait(*b, receive(*b, room(100000), 1), kSecond);
  EXPECT_EQ(c.status, Status::endpoint_unreachable);
  EXPECT_EQ(c.xfer_length, 0U);
}

// --- messages to the endpoint itself ---

class Self : public Handler {};

TEST_F(Self, self_send__posted_and_unexpected) {
  a = &network.add({});
  for (const std::size_t length : {0, 10, 5000, 100000}) {
    for (const bool unexpected : {true, false}) {
      Bytes& out = message(length);
      Bytes& in = room(length);
      Request* r = unexpected ? nullptr : receive(*a, in, 1);
      Request* s = send(*a, (*a)->self(), out, 1, length == 10);
      EXPECT_EQ((*a)->done(s), !unexpected);
      if (unexpected) {
        EXPECT_EQ(*(*a)->buffered(s), length <= 32768);
        EXPECT_EQ((*a)->probe(1, ~0ULL)->msg_length, length);
        r = receive(*a, in, 1);
      }
      const Completion cr = wait(*a, r);
      const Completion cs = wait(*a, s);
      EXPECT_EQ(cr.status, Status::success);
      EXPECT_EQ(cr.peer, (*a)->self());
      EXPECT_EQ(cr.session, (*a)->config().session);
      EXPECT_EQ(cs.status, Status::success);
      EXPECT_EQ(cs.xfer_length, length);
      EXPECT_EQ(in, out);
    }
  }
  EXPECT_EQ(network.frames_sent, 0U);
}

// There is one copy only: no memory in between could hold the message. Programs that set OMX_DISABLE_SELF
// expect this, as it switches off the special path for such messages.
TEST_F(Self, self_as_others__short_ones_complete_before_their_receive) {
  Config config;
  config.self_as_others = true;
  open(config, {});
  Peer* const self = (*a)->self();
  for (const std::size_t length : {0, 20, 5000, 32768}) {
    Bytes& data = message(length, 7);
    EXPECT_EQ(wait(*a, send(*a, self, data, 1), 0).status, Status::success) << length;
    Bytes& in = room(length);
    EXPECT_EQ(wait(*a, receive(*a, in, 1)).status, Status::success);
    EXPECT_EQ(in, data);
    EXPECT_EQ(wait(*a, send(*a, self, data, 1), 0).status, Status::success);
    const Completion cut = wait(*a, receive(*a, room(length / 2), 1));
    EXPECT_EQ(cut.status, length ? Status::truncated : Status::success);
    EXPECT_EQ(cut.peer, self);
  }
  Request* large = send(*a, self, message(100000), 1);
  SendOp op;
  Segment part = segment(message(8));
  op.peer = self;
  op.segments = {&part, 1};
  op.match_info = 2;
  op.synchronous = true;
  Request* synchronous = (*a)->send(network.now, op).value();
  EXPECT_FALSE((*a)->done(large));
  EXPECT_FALSE((*a)->done(synchronous));
  EXPECT_EQ(wait(*a, receive(*a, room(100000), 1)).status, Status::success);
  EXPECT_EQ(wait(*a, receive(*a, room(8), 2)).status, Status::success);
  EXPECT_EQ(wait(*a, large).status, Status::success);
  EXPECT_EQ(wait(*a, synchronous).status, Status::success);
  EXPECT_EQ(self->rx.unexpected_bytes, 0U);
  EXPECT_EQ((*a)->memory().buffers, 0U);
}

TEST_F(Self, self_send__large_ones_are_copied_once) {
  Config config;
  config.buffer_bytes = config.send_buffer_bytes = 64 * 1024;
  a = &network.add(config);
  for (const bool unexpected : {true, false}) {
    Bytes& out = message(1'000'000);
    Bytes& in = room(1'000'000);
    Request* r = unexpected ? nullptr : receive(*a, in, 1);
    Request* s = send(*a, (*a)->self(), out, 1);
    EXPECT_EQ((*a)->memory().buffers, 0U);
    if (unexpected) {
      out[999'999] ^= std::byte{0xFF};  // the data are read when they are received, not before
      r = receive(*a, in, 1);
    }
    EXPECT_EQ(wait(*a, r).status, Status::success);
    EXPECT_EQ(wait(*a, s).status, Status::success);
    EXPECT_EQ(in, out);
  }
}

TEST_F(Self, self_send__truncation_shows_on_both_sides) {
  a = &network.add({});
  for (const bool unexpected : {true, false}) {
    Bytes& in = room(4);
    Request* r = unexpected ? nullptr : receive(*a, in, 1);
    Request* s = send(*a, (*a)->self(), message(10), 1);
    if (unexpected) r = receive(*a, in, 1);
    EXPECT_EQ(wait(*a, r).status, Status::truncated);
    const Completion c = wait(*a, s);
    EXPECT_EQ(c.status, Status::truncated);
    EXPECT_EQ(c.xfer_length, 4U);
  }
}

TEST_F(Self, self_send__handler) {
  a = &network.add({});
  Request* r = nullptr;
  Bytes& in = room(10);
  handle(*a, [&](const Arrival& arrival) {
    if (arrival.match_info == 1) return HandlerAction::finished;
    if (arrival.match_info == 2) r = receive(*a, in, 2);
    return HandlerAction::proceed;
  });
  EXPECT_EQ(wait(*a, send(*a, (*a)->self(), message(10), 1)).status, Status::success);
  Request* s = send(*a, (*a)->self(), message(10), 2);
  EXPECT_EQ(wait(*a, r).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
  s = send(*a, (*a)->self(), message(10), 3);
  EXPECT_FALSE((*a)->done(s));
  EXPECT_EQ(calls.size(), 3U);
}

TEST_F(Self, self_send__scattered_pieces_and_user_memory_reused) {
  a = &network.add({});
  Bytes out = pattern(1, 100);
  const Bytes original = out;
  Segment from[3] = {{out.data(), 33}, {nullptr, 0}, {out.data() + 33, 67}};
  SendOp op;
  op.peer = (*a)->self();
  op.segments = from;
  Request* s = (*a)->send(network.now, op).value();
  ASSERT_TRUE(*(*a)->buffered(s));
  std::fill(out.begin(), out.end(), std::byte{0});
  Bytes in(100);
  Segment to[2] = {{in.data(), 50}, {in.data() + 50, 50}};
  ReceiveOp rop;
  rop.segments = to;
  EXPECT_EQ(wait(*a, (*a)->receive(network.now, rop).value()).status, Status::success);
  EXPECT_EQ(in, original);
  wait(*a, s);
}

}  // namespace
}  // namespace omx::protocol::test
