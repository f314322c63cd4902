// SPDX-License-Identifier: BSD-3-Clause
// Queues on the path that mark frames instead of dropping them (ECN, docs/explanation/congestion.md).
#include "protocol/snapshot.h"

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

constexpr std::size_t kMarkedLength = 4000;
constexpr std::uint32_t kFirstEagerWindow = 64 * 1024, kFirstPullWindow = 192 * 1024;

class MarksTest : public PairTest {
 protected:
  void open_jumbo(bool b_heeds = true) {
    Config config;
    config.mtu = 9000;
    Config other = config;
    other.reliability.marks = b_heeds;
    open(config, other);
    network.run_for(10 * kMillisecond);  // large frames are proven
  }
  void mark_all(wire::PacketType type) {
    network.faults.mark = [type](const Bytes& frame) { return type_of(frame) == type; };
  }
  // Sends messages at once and waits until all are acknowledged.
  void burst(int messages, std::size_t length = kMarkedLength) {
    for (int i = 0; i < messages; i++) (void)receive(*b, room(length), static_cast<std::uint64_t>(i));
    for (int i = 0; i < messages; i++) (void)send(*a, to_b, message(length), static_cast<std::uint64_t>(i));
    network.run_for(10 * kMillisecond);
    ASSERT_EQ(to_b->tx.frames_unacked, 0U);
  }
  std::uint64_t told() const { return a->counters[Counter::marks_told]; }
};

TEST_F(MarksTest, marked_messages__bound_what_their_sender_has_on_its_way) {
  open_jumbo();
  mark_all(wire::PacketType::medium);
  burst(8);
  EXPECT_EQ(b->counters[Counter::recv_marked], 8U);
  EXPECT_GT(told(), 0U);
  ASSERT_NE(to_b->tx.eager, nullptr);
  const std::uint32_t after = to_b->tx.eager->window.bytes();
  EXPECT_LT(after, kFirstEagerWindow);
  EXPECT_GE(after, kFirstEagerWindow * 3 / 4) << "all marks of a window count once";
  EXPECT_EQ(a->counters[Counter::resend_timeout] + a->counters[Counter::resend_sack], 0U);
  burst(8);
  EXPECT_LT(to_b->tx.eager->window.bytes(), after) << "those of a later one are news";
}

TEST_F(MarksTest, no_marks__nothing_is_told) {
  open_jumbo();
  burst(8);
  EXPECT_EQ(told(), 0U);
  EXPECT_EQ(to_b->tx.eager, nullptr);
  EXPECT_FALSE(a->marks_forgone);
  EXPECT_FALSE(b->marks_forgone);
}

// A lone message usually takes a shorter way, on which marks are not looked at.
TEST_F(MarksTest, lone_short_message__is_looked_at_too) {
  open_jumbo();
  burst(3, 8);
  mark_all(wire::PacketType::tiny);
  burst(1, 8);
  EXPECT_EQ(told(), 1U);
}

// The answer to a message carries its acknowledgement, but not the news.
TEST_F(MarksTest, answer__does_not_swallow_the_news) {
  open_jumbo();
  network.faults.mark = [this](const Bytes& frame) {
    return type_of(frame) == wire::PacketType::tiny && mac_load(frame.data()) == (*b)->config().nic;
  };
  Request* question = receive(*b, room(8), 1);
  Request* answer = receive(*a, room(8), 2);
  (void)send(*a, to_b, message(8), 1);
  while (!(*b)->done(question)) ASSERT_TRUE(network.step());
  (void)send(*b, to_a, message(8), 2);
  ASSERT_EQ(wait(*a, answer).status, Status::success);
  network.run_for(kMillisecond);
  EXPECT_EQ(told(), 1U);
}

TEST_F(MarksTest, marked_replies__make_the_window_of_pulls_smaller) {
  open_jumbo();
  exchange(*a, to_b, *b, 1 << 20);
  const std::uint32_t before = (*b)->state().pulling.window().bytes();
  ASSERT_GE(before, kFirstPullWindow);
  mark_all(wire::PacketType::pull_reply);
  exchange(*a, to_b, *b, 1 << 20, 78);
  EXPECT_LT((*b)->state().pulling.window().bytes(), before);
  EXPECT_GT(b->counters[Counter::recv_marked], 0U);
  EXPECT_EQ(told(), 0U) << "the receiver asks for less, so the sender need not know";
  EXPECT_FALSE(to_b->bulk.alone) << "no leave for unscheduled data";
}

TEST_F(MarksTest, deaf_peer__nobody_may_mark_what_is_sent_to_it) {
  open_jumbo(false);
  EXPECT_TRUE(a->marks_forgone);
  EXPECT_TRUE(b->marks_forgone) << "it was told so";
  Snapshot view;
  (*a)->snapshot(network.now, view);
  EXPECT_TRUE(view.marks.forgone && view.marks.by_peer);
  EXPECT_EQ(view.marks.refuser, (*b)->config().nic);
  EXPECT_EQ(view.marks.refuser_endpoint, (*b)->config().endpoint);
  (*b)->snapshot(network.now, view);
  EXPECT_TRUE(view.marks.forgone);
  EXPECT_FALSE(view.marks.by_peer) << "its own setting";
  mark_all(wire::PacketType::medium);
  burst(8);
  EXPECT_EQ(told(), 0U);
  EXPECT_EQ(to_b->tx.eager, nullptr);
}

TEST_F(MarksTest, deaf_receiver__does_not_ask_for_less) {
  open_jumbo(false);
  exchange(*a, to_b, *b, 1 << 20);
  const std::uint32_t before = (*b)->state().pulling.window().bytes();
  mark_all(wire::PacketType::pull_reply);
  exchange(*a, to_b, *b, 1 << 20, 78);
  EXPECT_GE((*b)->state().pulling.window().bytes(), before);
  EXPECT_EQ(b->counters[Counter::recv_marked], 0U);
}

TEST_F(MarksTest, legacy_peer__nobody_may_mark_what_is_sent_to_it) {
  Config legacy;
  legacy.extension = false;
  open({}, legacy);
  EXPECT_TRUE(a->marks_forgone);
}

}  // namespace
}  // namespace omx::protocol::test
