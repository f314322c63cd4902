// SPDX-License-Identifier: BSD-3-Clause
// Completion queue, context ids, cancel, forget.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class CompletionTest : public PairTest {
 protected:
  static Config with_contexts() {
    Config config;
    config.context_bits = 4;
    config.context_shift = 60;
    return config;
  }
};

TEST_F(CompletionTest, find_done__oldest_that_matches) {
  open();
  for (std::uint64_t i = 0; i < 10; i++) {
    (void)receive(*b, room(4), i);
    (void)send(*a, to_b, message(4), i);
  }
  ASSERT_TRUE(network.run_until([&] { return (*b)->completion_count() >= 11; }));  // and the connect
  EXPECT_EQ((*b)->consume((*b)->find_done(7, ~0ULL)).match_info, 7U);
  EXPECT_EQ((*b)->find_done(7, ~0ULL), nullptr);
  EXPECT_EQ((*b)->consume((*b)->find_done(1, 1)).match_info, 1U);
  EXPECT_EQ((*b)->consume((*b)->find_done(0, 0)).match_info, 0U);
  EXPECT_EQ((*b)->consume((*b)->peek_done()).match_info, 2U);
}

TEST_F(CompletionTest, find_done__by_context_id) {
  open(with_contexts(), with_contexts());
  const auto id = [](std::uint64_t i) { return i << 60; };
  ReceiveOp op;
  op.match_info = id(3);
  op.match_mask = 0xF;
  op.match_info = 3;
  EXPECT_EQ((*b)->receive(network.now, op).error(), OpError::context_id_mask);
  op.match_info = id(1);
  op.match_mask = id(7);
  EXPECT_EQ((*b)->receive(network.now, op).error(), OpError::context_id_mask) << "part of the field";
  for (std::uint64_t i = 0; i < 16; i++) (void)receive(*b, room(4), id(i), id(15));
  for (std::uint64_t i = 0; i < 16; i++) (void)send(*a, to_b, message(4), id(15 - i) | i);
  ASSERT_TRUE(network.run_until([&] { return (*b)->completion_count() >= 17; }));
  EXPECT_EQ((*b)->find_done(id(2) | 2, id(15) | 15), nullptr);
  EXPECT_EQ((*b)->consume((*b)->find_done(id(2), id(15))).match_info, id(2) | 13);
  EXPECT_EQ((*b)->find_done(id(2), id(15)), nullptr);
  // A mask that covers none of the field, or a part of it, matches all ids.
  EXPECT_EQ((*b)->consume((*b)->find_done(0, 0)).match_info, id(15));
  EXPECT_EQ((*b)->consume((*b)->find_done(id(1), id(1))).match_info, id(13) | 2);
  EXPECT_EQ((*b)->consume((*b)->peek_done()).match_info, id(14) | 1);
  Request* r = receive(*b, room(4), id(5), id(15));
  EXPECT_TRUE(*(*b)->cancel(r, true));
  ASSERT_EQ((*b)->consume((*b)->find_done(id(5), id(15))).match_info, id(5) | 10);
  EXPECT_EQ((*b)->consume((*b)->find_done(id(5), id(15))).status, Status::cancelled);
}

TEST_F(CompletionTest, cancel__by_state) {
  open();
  Request* posted = receive(*b, room(4), 1);
  const auto count = (*b)->completion_count();
  EXPECT_TRUE(*(*b)->cancel(posted));
  EXPECT_EQ((*b)->completion_count(), count);
  EXPECT_EQ((*b)->state().memory.requests.live(), 0U);

  Request* ending = receive(*b, room(4), 1);
  EXPECT_TRUE(*(*b)->cancel(ending, true));
  EXPECT_FALSE(*(*b)->cancel(ending)) << "done already";
  EXPECT_EQ((*b)->consume(ending).status, Status::cancelled);

  Request* s = send(*a, to_b, message(100000), 2);
  EXPECT_EQ((*a)->cancel(s).error(), OpError::bad_request);

  Request* pulling = receive(*b, room(100000), 2);
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  ASSERT_TRUE(network.run_until([&] { return pulling->rx.pull != nullptr; }));
  EXPECT_FALSE(*(*b)->cancel(pulling));
  network.faults.drop = nullptr;
  EXPECT_EQ(wait(*b, pulling).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);

  network.faults.drop = drop_all(wire::PacketType::connect);
  Request* c = connect_start(*a, *b);
  EXPECT_TRUE(*(*a)->cancel(c));
  c = connect_start(*a, *b);
  EXPECT_TRUE(*(*a)->cancel(c, true));
  EXPECT_EQ((*a)->consume(c).status, Status::cancelled);
  network.faults.drop = nullptr;
  network.run_for(kSecond);
  EXPECT_EQ((*a)->state().memory.requests.live(), 0U);
  exchange_both_ways();
}

TEST_F(CompletionTest, cancel__half_received_medium_is_too_late) {
  open();
  Request* r = receive(*b, room(20000), 1);
  network.faults.drop = [n = 0](const Bytes& f) mutable {
    return type_of(f) == wire::PacketType::medium && n++ > 2;
  };
  Bytes& out = message(20000);
  (void)send(*a, to_b, out, 1);
  network.run_for(kMillisecond);
  ASSERT_TRUE(to_a->rx.partial);
  EXPECT_FALSE(*(*b)->cancel(r));
  network.faults.drop = nullptr;
  EXPECT_EQ(wait(*b, r).status, Status::success);
}

TEST_F(CompletionTest, forget__every_kind) {
  open();
  for (const std::size_t length : {4, 100, 5000, 100000}) {
    Bytes& out = message(length);
    Bytes& in = room(length);
    (*a)->forget(send(*a, to_b, out, 1));
    (*b)->forget(receive(*b, in, 1));
    ASSERT_TRUE(network.run_until([&] { return in == out; }, kSecond)) << length;
    (*a)->forget(send(*a, (*a)->self(), out, 1));
    Bytes& own = room(length);
    Request* r = receive(*a, own, 1);
    EXPECT_TRUE((*a)->done(r));
    (*a)->forget(r);  // done already: freed
    EXPECT_EQ(own, out);
  }
  (*a)->forget(connect_start(*a, *b));
  network.run_for(kSecond);
  EXPECT_EQ((*a)->peek_done(), nullptr);
  EXPECT_EQ((*b)->peek_done(), nullptr);
  EXPECT_EQ((*a)->state().memory.requests.live(), 0U);
  EXPECT_EQ((*b)->state().memory.requests.live(), 0U);
  EXPECT_EQ((*a)->memory().buffers, 0U);
  EXPECT_EQ((*b)->memory().buffers, 0U);
}

TEST_F(CompletionTest, forgotten__from_the_start_returns_null) {
  open();
  for (const std::size_t length : {4, 5000, 100000}) {
    Bytes& out = message(length);
    Bytes& in = room(length);
    Segment s = segment(out), d = segment(in);
    SendOp op;
    op.peer = to_b;
    op.segments = {&s, 1};
    op.forgotten = true;
    ReceiveOp rop;
    rop.segments = {&d, 1};
    rop.forgotten = true;
    EXPECT_EQ((*a)->send(network.now, op).value(), nullptr);
    EXPECT_EQ((*b)->receive(network.now, rop).value(), nullptr);
    ASSERT_TRUE(network.run_until([&] { return in == out; }, kSecond));
    op.session = 0x1234;  // refused at once: the engine must keep nothing of it
    EXPECT_EQ((*a)->send(network.now, op).value(), nullptr);
  }
  network.run_for(kSecond);
  EXPECT_EQ((*a)->state().memory.requests.live(), 0U);
  EXPECT_EQ((*b)->state().memory.requests.live(), 0U);
}

TEST_F(CompletionTest, buffered__by_class) {
  open();
  b->paused = true;
  EXPECT_TRUE(*(*a)->buffered(send(*a, to_b, message(4), 1)));
  EXPECT_TRUE(*(*a)->buffered(send(*a, to_b, message(5000), 1)));
  EXPECT_FALSE(*(*a)->buffered(send(*a, to_b, message(100000), 1)));
  EXPECT_TRUE(*(*a)->buffered(send(*a, (*a)->self(), message(100), 1)));
  EXPECT_EQ((*a)->buffered(receive(*a, room(4), 9)).error(), OpError::bad_request);
}

class CopyLater : public CompletionTest {
 protected:
  Request* send_later(Bytes& data, std::uint64_t match) {
    Segment s = segment(data);
    SendOp op;
    op.peer = to_b;
    op.segments = {&s, 1};
    op.match_info = match;
    op.advice.copy_later = true;
    return (*a)->send(network.now, op).value();
  }
};

TEST_F(CopyLater, not_needed_once_acknowledged) {
  open();
  Bytes& in = room(20000);
  Bytes& out = message(20000);
  Request* r = receive(*b, in, 1);
  Request* s = send_later(out, 1);
  EXPECT_TRUE((*a)->copy_owed());
  EXPECT_FALSE((*a)->done(s));
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
  EXPECT_FALSE((*a)->copy_owed());
  EXPECT_EQ((*a)->state().memory.send_buffers.in_use(), 0U);
  EXPECT_EQ(in, out);
}

TEST_F(CopyLater, made_it_frees_the_memory) {
  open();
  Bytes& in = room(20000);
  Bytes out = message(20000);
  const Bytes sent = out;
  network.faults.drop = drop_next(wire::PacketType::medium, 3);
  Request* r = receive(*b, in, 1);
  Request* s = send_later(out, 1);
  network.run_for(kMillisecond / 10);
  (*a)->copy_make(network.now);
  EXPECT_EQ((*a)->consume(s).status, Status::success);
  std::fill(out.begin(), out.end(), std::byte{0xAA});
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(in, sent) << "the copy was sent again";
  (*a)->copy_make(network.now);  // no copy is due
}

TEST_F(CopyLater, one_at_a_time) {
  open();
  Bytes& out = message(20000);
  Request* first = send_later(out, 1);
  Request* second = send_later(out, 2);
  EXPECT_FALSE((*a)->done(first));
  EXPECT_TRUE((*a)->done(second));
  (*a)->copy_make(network.now);
  EXPECT_TRUE((*a)->done(first));
}

TEST_F(CopyLater, peer_gone) {
  open();
  network.faults.drop = [](const Bytes&) { return true; };
  Request* s = send_later(message(20000), 1);
  EXPECT_EQ(wait(*a, s).status, Status::endpoint_unreachable);
  EXPECT_FALSE((*a)->copy_owed());
}

TEST_F(CompletionTest, session__stale_address) {
  open();
  SendOp op;
  op.peer = to_b;
  op.session = (*b)->config().session;
  op.context = &op;
  op.match_info = 3;
  EXPECT_EQ(wait(*a, (*a)->send(network.now, op).value()).status, Status::success);
  op.session++;
  const Completion c = wait(*a, (*a)->send(network.now, op).value());
  EXPECT_EQ(c.status, Status::bad_session);
  EXPECT_EQ(c.context, &op);
  EXPECT_EQ(c.match_info, 3U);
  EXPECT_EQ(c.peer, to_b);
}

}  // namespace
}  // namespace omx::protocol::test
