// SPDX-License-Identifier: BSD-3-Clause
// Messages that leave unasked, on paths that lose some of them (docs/explanation/congestion.md).
#include "protocol/state/eager_window.h"

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

constexpr std::size_t kOneFrame = 4000, kManyFrames = 30'000;

class EagerWindowTest : public PairTest {
 protected:
  void open_jumbo() {
    Config config;
    config.mtu = 9000;
    config.reliability.defers_from = kDeferredLeast;
    open(config, config);
    network.run_for(10 * kMillisecond);  // large frames are proven
  }
  std::uint64_t sent(Counter c) const { return a->counters[c]; }
  // Sends messages of one frame, of which every `nth` is lost at first. Receives all of them, in order.
  void stream(int messages, int nth, std::size_t length = kOneFrame) {
    network.faults.drop = [nth, n = 0](const Bytes& f) mutable {
      return type_of(f) == wire::PacketType::medium && ++n % nth == 0;
    };
    std::deque<Request*> receives;
    for (int i = 0; i < messages; i++)
      receives.push_back(receive(*b, room(length), static_cast<std::uint64_t>(i)));
    for (int i = 0; i < messages; i++) (void)send(*a, to_b, message(length), static_cast<std::uint64_t>(i));
    for (Request* r : receives) ASSERT_EQ(wait(*b, r).status, Status::success);
    network.faults = {};
    network.run_for(10 * kMillisecond);
  }
};

TEST_F(EagerWindowTest, free_path__has_no_window_and_asks_for_nothing) {
  open_jumbo();
  stream(200, 1'000'000);
  EXPECT_EQ(sent(Counter::eager_window), 0U);
  EXPECT_EQ(to_b->tx.eager, nullptr);
  EXPECT_EQ(sent(Counter::eager_deferred), 0U);
}

TEST_F(EagerWindowTest, loss__bounds_what_is_on_its_way) {
  open_jumbo();
  stream(400, 5);
  ASSERT_NE(to_b->tx.eager, nullptr);
  EXPECT_EQ(sent(Counter::eager_window), 1U);
  EXPECT_LT(to_b->tx.eager->window.bytes(), 64U * 1024);
  EXPECT_EQ(to_b->tx.eager->in_flight, 0U) << "all was acknowledged";
}

TEST_F(EagerWindowTest, loss__of_one_message_takes_nothing_away) {
  open_jumbo();
  stream(100, 60);
  ASSERT_NE(to_b->tx.eager, nullptr);
  EXPECT_GE(to_b->tx.eager->window.bytes(), 64U * 1024) << "a bad cable is no congestion";
}

TEST_F(EagerWindowTest, ended__after_calm_and_a_trial) {
  open_jumbo();
  stream(100, 20);
  ASSERT_NE(to_b->tx.eager, nullptr);
  network.run_for(2 * kSecond);
  stream(10, 1'000'000);
  ASSERT_NE(to_b->tx.eager, nullptr);
  EXPECT_TRUE(to_b->tx.eager->trial);
  stream(1200, 1'000'000);
  EXPECT_EQ(to_b->tx.eager, nullptr);
}

TEST_F(EagerWindowTest, relapse__the_next_calm_is_longer) {
  open_jumbo();
  stream(100, 20);
  network.run_for(2 * kSecond);
  stream(100, 20);
  ASSERT_NE(to_b->tx.eager, nullptr);
  EXPECT_FALSE(to_b->tx.eager->trial);
  network.run_for(3 * kSecond / 2);
  stream(10, 1'000'000);
  EXPECT_FALSE(to_b->tx.eager->trial) << "a second is no longer enough";
}

TEST_F(EagerWindowTest, many_frames__wait_for_their_receiver_but_complete_at_once) {
  open_jumbo();
  stream(100, 20);
  ASSERT_NE(to_b->tx.eager, nullptr);
  const auto rndv = sent(Counter::send_rndv), medium = sent(Counter::send_medium_frag);
  Bytes& out = message(kManyFrames, 7);
  Request* s = send(*a, to_b, out, 1);
  EXPECT_EQ(wait(*a, s).status, Status::success) << "its data were copied";
  std::fill(out.begin(), out.end(), std::byte{0});
  network.run_for(kMillisecond);
  EXPECT_EQ(sent(Counter::send_rndv), rndv + 1);
  EXPECT_EQ(sent(Counter::send_medium_frag), medium);
  Bytes& in = room(kManyFrames);
  EXPECT_EQ(wait(*b, receive(*b, in, 1)).status, Status::success);
  EXPECT_EQ(in, pattern(7, kManyFrames));
  EXPECT_FALSE((*a)->drained() && to_b->tx.await_notify.front()) << "what was not fetched is owed";
}

// Without the flag the acknowledgement would come after a millisecond.
TEST_F(EagerWindowTest, asked_ack__comes_at_once) {
  open_jumbo();
  stream(100, 20);
  ASSERT_NE(to_b->tx.eager, nullptr);
  Request* r = receive(*b, room(kOneFrame), 1);
  (void)send(*a, to_b, message(kOneFrame), 1);
  wait(*b, r);
  network.run_for(kMillisecond / 5);
  EXPECT_EQ(to_b->tx.frames_unacked, 0U);
}

// A coalesced frame has no place for the flag.
TEST_F(EagerWindowTest, asked_ack__comes_at_once_for_short_messages_that_leave_together) {
  open_jumbo();
  stream(100, 20);
  ASSERT_NE(to_b->tx.eager, nullptr);
  for (std::uint64_t i = 0; i < 8; i++) {
    (void)receive(*b, room(8), i);
    const Segment data = segment(message(8));
    SendOp op;
    op.peer = to_b;
    op.segments = {&data, 1};
    op.match_info = i;
    op.advice.hold = true;
    ASSERT_TRUE((*a)->send(network.now, op));
  }
  (*a)->release(network.now);
  EXPECT_GT(sent(Counter::send_coalesced), 0U);
  network.run_for(kMillisecond / 5);
  EXPECT_LT(to_b->tx.frames_unacked, 8U) << "the message that asked is acknowledged";
}

// The acknowledgement of a NOTIFY may come late, which shows nothing of the path.
TEST_F(EagerWindowTest, notify__is_outside_of_the_window) {
  open_jumbo();
  stream(100, 20);
  ASSERT_NE(to_b->tx.eager, nullptr);
  network.run_for(10 * kMillisecond);
  const auto last = to_b->tx.eager->last;
  Request* r = receive(*a, room(200'000), 1);
  (void)send(*b, to_a, message(200'000), 1);
  ASSERT_EQ(wait(*a, r).status, Status::success);
  EXPECT_EQ(to_b->tx.frames_unacked, 1U);
  EXPECT_EQ(to_b->tx.eager->in_flight, 0U);
  network.run_for(10 * kMillisecond);
  EXPECT_EQ(to_b->tx.frames_unacked, 0U);
  EXPECT_EQ(to_b->tx.eager->last, last);
}

// All that happens in one turn has the time of its beginning.
TEST_F(EagerWindowTest, round_trip__is_not_measured_within_one_turn) {
  open_jumbo();
  const auto at_once = [this] {
    network.faults.late = [](const Bytes&) { return TimeNs{0} - 5'000; };
    for (std::uint64_t i = 0; i < 20; i++) exchange(*a, to_b, *b, kOneFrame, i);
    network.run_for(10 * kMillisecond);
  };
  at_once();
  stream(100, 20);
  ASSERT_NE(to_b->tx.eager, nullptr);
  EXPECT_GT(to_b->tx.eager->least, 1000U);
  at_once();
  EXPECT_GT(to_b->tx.eager->least, 1000U) << "else every later answer is a late one";
}

TEST_F(EagerWindowTest, longer_path__is_known_as_such_after_some_seconds) {
  open_jumbo();
  stream(100, 20);
  ASSERT_NE(to_b->tx.eager, nullptr);
  ASSERT_LT(to_b->tx.eager->least, kMillisecond / 10);
  network.faults.late = [](const Bytes&) { return kMillisecond / 10; };
  for (std::uint64_t i = 0; i < 30 && to_b->tx.eager; i++) {
    exchange(*a, to_b, *b, kOneFrame, i);
    network.run_for(kSecond);
  }
  ASSERT_NE(to_b->tx.eager, nullptr);
  EXPECT_GE(to_b->tx.eager->least, kMillisecond / 5);
}

TEST_F(EagerWindowTest, lone_short_message__is_not_delayed) {
  open_jumbo();
  stream(400, 3);
  ASSERT_NE(to_b->tx.eager, nullptr);
  const TimeNs began = network.now;
  Request* r = receive(*b, room(8), 1);
  (void)send(*a, to_b, message(8), 1);
  wait(*b, r);
  EXPECT_LT(network.now - began, kMillisecond / 5);
}

TEST_F(EagerWindowTest, disconnect__forgets_the_window) {
  open_jumbo();
  stream(100, 20);
  ASSERT_NE(to_b->tx.eager, nullptr);
  (*a)->disconnect(network.now, to_b);
  EXPECT_EQ(to_b->tx.eager, nullptr);
  EXPECT_EQ((*a)->state().memory.eager_windows.live(), 0U);
}

// A receiver that several peers send to must ask for long messages. Until it says that it is alone, only one
// of them leaves unasked.
TEST_F(EagerWindowTest, first_contact__only_one_long_message_leaves_unasked) {
  open_jumbo();
  to_b->bulk.alone = false;
  for (std::uint64_t i = 0; i < 4; i++) (void)receive(*b, room(kManyFrames), i);
  for (std::uint64_t i = 0; i < 4; i++) (void)send(*a, to_b, message(kManyFrames), i);
  EXPECT_EQ(sent(Counter::eager_deferred), 3U);
  network.run_for(10 * kMillisecond);
  EXPECT_TRUE(to_b->bulk.alone) << "the NOTIFYs said so";
  for (std::uint64_t i = 0; i < 4; i++) (void)receive(*b, room(kManyFrames), i);
  for (std::uint64_t i = 0; i < 4; i++) (void)send(*a, to_b, message(kManyFrames), i);
  EXPECT_EQ(sent(Counter::eager_deferred), 3U);
}

// A delivered send completes with the acknowledgement, whether a receive was posted or not
// (docs/reference/contract.md).
TEST_F(EagerWindowTest, delivered_send__does_not_wait_for_a_receive) {
  open_jumbo();
  to_b->bulk.alone = false;
  (void)send(*a, to_b, message(kManyFrames), 1);
  const Segment data = segment(message(kManyFrames));
  SendOp op;
  op.peer = to_b;
  op.segments = {&data, 1};
  op.match_info = 2;
  op.delivered = true;
  EXPECT_EQ(wait(*a, (*a)->send(network.now, op).value(), kSecond).status, Status::success);
}

TEST_F(EagerWindowTest, no_memory_for_copies__sends_do_not_wait_for_a_receive) {
  for (const bool none : {true, false}) {
    network.clear();
    Config config;
    config.mtu = 9000;
    config.reliability.defers_from = kDeferredLeast;
    if (none)
      config.buffered_sends_max = 0;
    else
      config.send_buffer_bytes = 16 * 1024;
    open(config, config);
    network.run_for(10 * kMillisecond);
    to_b->bulk.alone = false;
    (void)send(*a, to_b, message(kManyFrames), 1);
    EXPECT_EQ(wait(*a, send(*a, to_b, message(kManyFrames), 2), kSecond).status, Status::success);
  }
}

TEST_F(EagerWindowTest, deferred__counts_a_message_once_however_long_it_waits) {
  Config few;
  few.eager_frames = 4;
  few.reliability.defers_from = kDeferredLeast;
  open(few, few);
  to_b->bulk.alone = false;
  for (std::uint64_t i = 0; i < 4; i++) (void)send(*a, to_b, message(8), i);
  for (std::uint64_t i = 4; i < 8; i++) (void)send(*a, to_b, message(kManyFrames), i);
  EXPECT_EQ(sent(Counter::eager_deferred), 0U) << "the peer has no room for its announcement yet";
  network.run_for(10 * kMillisecond);
  EXPECT_EQ(sent(Counter::eager_deferred), 4U);
}

// The bulk path may fail while a message waits for room, and then the message is too long to leave unasked.
TEST_F(EagerWindowTest, deferred__leaves_from_its_copy_even_as_a_large_message) {
  constexpr std::size_t kByBulk = 40'000;
  Config one = with_bulk(1), other = with_bulk(2);
  for (Config* config : {&one, &other}) {
    config->eager_frames = 4;
    config->reliability.defers_from = kDeferredLeast;
  }
  open(one, other);
  exchange(*a, to_b, *b, 50'000);
  ASSERT_TRUE(to_b->bulk.out);
  network.run_for(10 * kMillisecond);
  to_b->bulk.alone = false;
  for (std::uint64_t i = 0; i < 4; i++) (void)send(*a, to_b, message(8), i);
  Bytes& out = message(kByBulk, 7);
  Request* s = send(*a, to_b, out, 9);
  to_b->bulk.out = false;
  EXPECT_EQ(wait(*a, s, kSecond).status, Status::success) << "its data were copied";
  std::fill(out.begin(), out.end(), std::byte{0});
  EXPECT_EQ(sent(Counter::eager_deferred), 0U) << "it was too long";
  Bytes& in = room(kByBulk);
  EXPECT_EQ(wait(*b, receive(*b, in, 9)).status, Status::success);
  EXPECT_EQ(in, pattern(7, kByBulk));
}

// Others may keep a queue on the path full, so what leaves before anything has arrived is little.
TEST_F(EagerWindowTest, first_trial__bounds_the_first_burst) {
  open_jumbo();
  to_b->bulk.alone = true;
  std::deque<Request*> receives;
  for (std::uint64_t i = 0; i < 30; i++) receives.push_back(receive(*b, room(kManyFrames), i));
  for (std::uint64_t i = 0; i < 30; i++) (void)send(*a, to_b, message(kManyFrames), i);
  ASSERT_NE(to_b->tx.eager, nullptr);
  EXPECT_LE(to_b->tx.eager->in_flight, 128U * 1024);
  EXPECT_FALSE(to_b->tx.queued.empty());
  const TimeNs began = network.now;
  for (Request* r : receives) EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_LT(network.now - began, kMillisecond) << "no acknowledgement was delayed";
  network.run_for(10 * kMillisecond);
  EXPECT_EQ(to_b->tx.eager, nullptr) << "all has arrived";
  EXPECT_GE(to_b->tx.eager_proven, 1U);
  EXPECT_EQ(sent(Counter::eager_deferred), 0U);
  EXPECT_EQ(sent(Counter::eager_window), 0U) << "nothing was lost";
}

TEST_F(EagerWindowTest, first_trial__short_messages_prove_nothing) {
  open_jumbo();
  to_b->bulk.alone = true;
  for (int i = 0; i < 100; i++) (void)send(*a, to_b, message(16), 1);
  for (int i = 0; i < 30; i++) (void)send(*a, to_b, message(kManyFrames), 2);
  ASSERT_NE(to_b->tx.eager, nullptr);
  EXPECT_LE(to_b->tx.eager->in_flight, 128U * 1024);
}

TEST_F(EagerWindowTest, first_trial__is_over_after_some_bursts) {
  open_jumbo();
  to_b->bulk.alone = true;
  int trials = 0;
  for (int burst = 0; burst < 20; burst++) {
    std::deque<Request*> receives;
    for (std::uint64_t i = 0; i < 8; i++) receives.push_back(receive(*b, room(kManyFrames), i));
    for (std::uint64_t i = 0; i < 8; i++) (void)send(*a, to_b, message(kManyFrames), i);
    trials += to_b->tx.eager != nullptr;
    for (Request* r : receives) ASSERT_EQ(wait(*b, r).status, Status::success);
    network.run_for(10 * kMillisecond);
  }
  EXPECT_GE(trials, 1);
  EXPECT_LE(trials, 5);
}

TEST_F(EagerWindowTest, first_trial__a_loss_makes_it_a_window) {
  open_jumbo();
  to_b->bulk.alone = true;
  stream(30, 10, kManyFrames);
  ASSERT_NE(to_b->tx.eager, nullptr);
  EXPECT_FALSE(to_b->tx.eager->trial);
  EXPECT_EQ(to_b->tx.eager_windows, 1U);
  EXPECT_EQ(sent(Counter::eager_window), 1U);
  EXPECT_GT(sent(Counter::eager_deferred), 0U) << "later messages wait until they are asked for";
}

TEST_F(EagerWindowTest, first_trial__begins_again_with_the_next_conversation) {
  open_jumbo();
  stream(100, 20);
  ASSERT_GT(to_b->tx.eager_windows, 0U);
  to_b->tx.eager_proven = 5;
  (*a)->disconnect(network.now, to_b);
  EXPECT_EQ(to_b->tx.eager_proven, 0U);
  EXPECT_EQ(to_b->tx.eager_windows, 0U) << "there would be no trial";
}

TEST_F(EagerWindowTest, legacy_peer__has_none) {
  Config config;
  config.extension = false;
  open(config, config);
  stream(100, 20, 1000);
  EXPECT_EQ(sent(Counter::eager_window), 0U);
  EXPECT_EQ(sent(Counter::eager_deferred), 0U);
}

}  // namespace
}  // namespace omx::protocol::test
