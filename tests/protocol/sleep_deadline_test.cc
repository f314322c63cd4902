// SPDX-License-Identifier: BSD-3-Clause
// When a sleeping thread must wake for the engine. Timers are lazy (timer.h), and a wake-up that finds
// nothing to do costs each message of a sleeper a second switch of processes.
#include "protocol/state/resend_time.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class SleepDeadlineTest : public PairTest {
 protected:
  void SetUp() override {
    open();
    network.run_for(kSecond);  // until probes of the frame size have ended
  }

  // Sends a short message to the other host, which has it when this returns. Nothing is acknowledged yet.
  Request* carry(Host& from, Peer* to, Host& at) {
    Request* const r = receive(at, room(8), 1);
    Request* const s = send(from, to, message(8), 1);
    EXPECT_EQ(wait(at, r).status, Status::success);
    return s;
  }
  void carry_acknowledged() {
    (void)wait(*a, carry(*a, to_b, *b));
    network.run_for(3 * kMillisecond / 2);
    ASSERT_TRUE(to_b->tx.unacked.empty());
  }
};

TEST_F(SleepDeadlineTest, an_acknowledgement_that_is_owed_wakes) {
  Request* const s = carry(*a, to_b, *b);
  const TimeNs due = to_a->rx.ack_due;
  EXPECT_GT(due, network.now);
  EXPECT_EQ((*b)->sleep_deadline(network.now), due);
  network.run_for(due - network.now);
  EXPECT_TRUE((*a)->done(s) || network.run_until([&] { return (*a)->done(s); }, kMillisecond));
  (void)(*a)->consume(s);
}

TEST_F(SleepDeadlineTest, an_acknowledgement_that_a_message_carried_does_not) {
  Request* const s = carry(*a, to_b, *b);
  const TimeNs due = to_a->rx.ack_due;
  Request* const answer = carry(*b, to_a, *a);
  ASSERT_LT(network.now, due);
  EXPECT_LE((*b)->next_deadline(), due) << "the timer is lazy";
  EXPECT_GT((*b)->sleep_deadline(network.now), due);
  EXPECT_EQ(wait(*a, s).status, Status::success);
  EXPECT_EQ(wait(*b, answer).status, Status::success);
}

TEST_F(SleepDeadlineTest, the_oldest_message_wakes_when_it_is_to_be_repeated) {
  // The timer of the first message is still armed when the second one leaves.
  carry_acknowledged();
  network.faults.loss = 1;
  Request* const lost = send(*a, to_b, message(8), 2);
  const TimeNs due = resend_due((*a)->state(), *to_b, *lost);
  EXPECT_LT((*a)->next_deadline(), due);
  EXPECT_EQ((*a)->sleep_deadline(network.now), due);
  network.faults.loss = 0;
  Request* const r = receive(*b, room(8), 2);
  EXPECT_EQ(wait(*b, r, due - network.now + kMillisecond).status, Status::success);
  EXPECT_EQ(wait(*a, lost).status, Status::success);
}

TEST_F(SleepDeadlineTest, nothing_wakes_when_all_is_acknowledged) {
  carry_acknowledged();
  EXPECT_NE((*a)->next_deadline(), kNever) << "the timer is lazy";
  EXPECT_EQ((*a)->sleep_deadline(network.now), kNever);
}

// A receive that names its sender, or half a message: the peer is to be asked whether it lives.
TEST_F(SleepDeadlineTest, a_peer_that_is_watched_wakes_as_before) {
  (void)wait(*a, carry(*a, to_b, *b));
  network.faults.drop = [&](const Bytes& frame) {
    return type_of(frame) == wire::PacketType::medium && network.random.chance(0.5);
  };
  Request* const s = send(*a, to_b, message(20000), 3);
  network.run_for(kMillisecond / 10);
  ASSERT_NE(to_a->rx.partial, nullptr);
  EXPECT_EQ((*b)->sleep_deadline(network.now), (*b)->next_deadline());
  network.faults.drop = nullptr;
  Request* const r = receive(*b, room(20000), 3);
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
}

}  // namespace
}  // namespace omx::protocol::test
