// SPDX-License-Identifier: BSD-3-Clause
// Large messages of several senders to one receiver (docs/explanation/pulls.md). Simulation measures the
// effect on a network (tests/simulation/engine/scale_test.cc). These tests examine the rules one by one.
#include "protocol/state/pull_window.h"

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class PullScheduleTest : public PairTest {
 protected:
  static constexpr std::size_t kLength = 1 << 20;

  // `count` senders that are connected to the receiver.
  void open_senders(std::size_t count, const Config& config = {}) {
    receiver = &network.add(config);
    for (std::size_t i = 0; i < count; i++) {
      Host& sender = network.add(config);
      senders.push_back(&sender);
      to_receiver.push_back(connect(network, sender, *receiver));
      ASSERT_NE(to_receiver.back(), nullptr);
    }
    network.run_for(kSecond);
  }
  Request* send_from(std::size_t i, std::size_t length, std::uint64_t match) {
    return send(*senders[i], to_receiver[i], message(length, match), match);
  }
  PullSchedule& schedule() { return (*receiver)->state().pulling; }

  Host* receiver = nullptr;
  std::vector<Host*> senders;
  std::vector<Peer*> to_receiver;
};

TEST_F(PullScheduleTest, window__bounds_what_all_senders_together_have_in_flight) {
  open_senders(6);
  std::vector<Request*> receives;
  for (std::size_t i = 0; i < 6; i++) {
    receives.push_back(receive(*receiver, room(kLength), i));
    send_from(i, kLength, i);
  }
  ASSERT_TRUE(network.run_until([&] { return schedule().senders == 6; }));
  // The first sender began alone.
  ASSERT_TRUE(network.run_until([&] { return schedule().in_flight <= schedule().shared.bytes(); }));
  std::uint64_t most = 0;
  network.run_until([&] {
    if (schedule().senders < 2) return true;
    EXPECT_LE(schedule().in_flight, schedule().shared.bytes());
    most = std::max(most, schedule().in_flight);
    return false;
  });
  EXPECT_GT(most, schedule().shared.bytes() / 2);
  for (Request* r : receives) EXPECT_EQ(wait(*receiver, r).status, Status::success);
  EXPECT_EQ(schedule().in_flight, 0U);
  EXPECT_EQ(schedule().senders, 0U);
  EXPECT_TRUE(schedule().turns.empty());
}

TEST_F(PullScheduleTest, share__is_kept_for_as_long_as_the_sender_may_take) {
  open_senders(2);
  State& s = (*receiver)->state();
  Peer& p = *(*receiver)->find_peer(Network::nic_of(1), 0);
  p.tx.trip = {};
  s.pulling.rtt = 50'000;  // of others, which may be nearer
  s.pulling.senders = 1;
  EXPECT_EQ(pull_share_kept(s, p), 20 * kMillisecond);
  s.pulling.senders = 2;
  EXPECT_EQ(pull_share_kept(s, p), 5 * kMillisecond) << "others wait";
  EXPECT_EQ(pull_share_kept_least(s), 250'000U) << "some may have to give theirs back sooner";
  p.tx.trip.measured(network.now, 100'000);
  EXPECT_EQ(pull_share_kept(s, p), 400'000U);
  p.tx.trip = {};
  p.tx.trip.measured(network.now, 20 * kMillisecond);
  EXPECT_EQ(pull_share_kept(s, p), 40 * kMillisecond);
  s.pulling.senders = 0;
}

// Counts the replies of messages of kLength bytes, and those with a mark.
class PullMarksTest : public PullScheduleTest {
 protected:
  static constexpr std::size_t kMessages = 8;

  void count_marks() {
    network.faults.drop = [this](const std::vector<std::byte>& frame) {
      wire::PullReply packet;
      const std::byte* data = nullptr;
      wire::Head head;
      if (wire::decode_head(frame, head) != wire::Drop::none || head.type != wire::PacketType::pull_reply ||
          wire::decode_pull_reply(frame, true, packet, &data) != wire::Drop::none)
        return false;
      replies++;
      const bool last = packet.msg_offset + packet.frame_length == kLength;
      marked += packet.flags & wire::kFlagUrgent;
      marked_last += last && (packet.flags & wire::kFlagUrgent);
      return false;
    };
  }

  // Receives the messages one after the other.
  void exchange_all() {
    for (std::size_t i = 0; i < kMessages; i++) {
      Request* r = receive(*receiver, room(kLength), i);
      send_from(0, kLength, i);
      EXPECT_EQ(wait(*receiver, r).status, Status::success);
    }
  }

  std::size_t marked = 0, replies = 0, marked_last = 0;
};

// Every request is answered by a block with a mark at its end (OMX_PULL_QUIET=0), as by the original.
TEST_F(PullMarksTest, not_quiet__the_end_of_every_block_is_marked) {
  Config config;
  config.mtu = 9000;
  config.pull_quiet = false;
  open_senders(1, config);
  count_marks();
  (*receiver)->set_sleeping(network.now, true);
  exchange_all();
  EXPECT_EQ(marked_last, kMessages);
  EXPECT_GT(marked, 2 * kMessages);
  EXPECT_EQ(marked, (*receiver)->state().count(Counter::send_pull_request));
}

// A sleeping receiver is woken when the message is whole, or when half of the window has come
// (docs/reference/wire.md 6).
TEST_F(PullMarksTest, quiet__only_the_answers_that_matter_are_marked) {
  Config config;
  config.mtu = 9000;
  open_senders(1, config);
  count_marks();
  schedule().alone = CongestionWindow(2U << 20);
  exchange_all();
  EXPECT_EQ(marked_last, kMessages);
  EXPECT_GT(replies, 20 * kMessages);
  EXPECT_LE(marked, 2 * kMessages);

  // A receiver that sleeps between frames requests all of such a message at once, and copies its first half
  // meanwhile.
  (*receiver)->set_sleeping(network.now, true);
  marked = marked_last = 0;
  exchange_all();
  EXPECT_EQ(marked_last, kMessages);
  EXPECT_EQ(marked, 2 * kMessages);

  // With several messages at a time there is always something to copy.
  marked = 0;
  std::vector<Request*> receives;
  for (std::size_t i = 0; i < kMessages; i++) {
    receives.push_back(receive(*receiver, room(kLength), i));
    send_from(0, kLength, i);
  }
  for (Request* r : receives) EXPECT_EQ(wait(*receiver, r).status, Status::success);
  EXPECT_LE(marked, kMessages + 1);
}

// If a sleeper waited for half of so few frames, nothing would be on its way meanwhile.
TEST_F(PullMarksTest, quiet__with_a_window_of_few_frames_the_end_of_every_block_is_marked) {
  Config config;
  config.mtu = 9000;
  config.pull_window_bytes = 5 * 9000;
  open_senders(1, config);
  count_marks();
  exchange_all();
  EXPECT_GT(marked, 2 * kMessages);
  EXPECT_EQ(marked, (*receiver)->state().count(Counter::send_pull_request));
}

TEST_F(PullScheduleTest, dead_senders__do_not_keep_the_others_waiting) {
  Config config;
  config.reliability.peer_timeout = 5 * kSecond;
  open_senders(20, config);
  std::vector<Request*> receives;
  for (std::size_t i = 0; i < 20; i++) {
    receives.push_back(receive(*receiver, room(kLength), i));
    send_from(i, kLength, i);
  }
  ASSERT_TRUE(network.run_until([&] { return schedule().senders == 20; }));
  for (std::size_t i = 1; i < 20; i++) network.kill(1 + i);
  EXPECT_EQ(wait(*receiver, receives[0], 200 * kMillisecond).status, Status::success);
  for (std::size_t i = 1; i < 20; i++)
    EXPECT_EQ(wait(*receiver, receives[i], 20 * kSecond).status, Status::endpoint_unreachable);
  EXPECT_EQ(schedule().in_flight, 0U);
}

// This choice decides how large messages are received (docs/explanation/copies.md).
TEST_F(PullScheduleTest, pace__of_large_messages_while_they_run) {
  Config config;
  config.reliability.peer_timeout = 5 * kSecond;
  open_senders(2, config);
  const PullPace& pace = schedule().pace;
  Request* synchronous = receive(*receiver, room(100), 8);
  send(*senders[0], to_receiver[0], message(100, 8), 8, true);
  EXPECT_EQ(wait(*receiver, synchronous).status, Status::success);
  EXPECT_EQ(pace.bytes(), 0U);
  Request* alive = receive(*receiver, room(kLength), 0);
  send_from(0, kLength, 0);
  EXPECT_EQ(wait(*receiver, alive).status, Status::success);
  EXPECT_FALSE(pace.running());
  EXPECT_EQ(pace.bytes(), kLength);
  EXPECT_GT(pace.busy(), 0U);
  Request* dead = receive(*receiver, room(kLength), 1);
  send_from(1, kLength, 1);
  ASSERT_TRUE(network.run_until([&] { return pace.running(); }));
  network.kill(2);
  EXPECT_EQ(wait(*receiver, dead, 20 * kSecond).status, Status::endpoint_unreachable);
  EXPECT_FALSE(pace.running());
}

TEST_F(PullScheduleTest, turns__a_late_message_gets_its_share_at_once) {
  open_senders(4);
  std::vector<Request*> receives;
  for (std::size_t i = 0; i < 3; i++) {
    receives.push_back(receive(*receiver, room(32 * kLength), i));
    send_from(i, 32 * kLength, i);
  }
  network.run_for(kMillisecond);
  Request* late = receive(*receiver, room(kLength), 3);
  send_from(3, kLength, 3);
  EXPECT_EQ(wait(*receiver, late).status, Status::success);
  for (Request* r : receives) EXPECT_FALSE((*receiver)->done(r)) << "much longer messages are not first";
  for (Request* r : receives) EXPECT_EQ(wait(*receiver, r).status, Status::success);
}

TEST_F(PullScheduleTest, turns__of_one_sender_the_oldest_message_is_first) {
  open_senders(2);
  for (std::size_t i = 0; i < 10; i++) {
    receive(*receiver, room(kLength), i);
    send_from(i % 2, kLength, i);
  }
  std::uint64_t next[2] = {0, 1};
  for (int i = 0; i < 10; i++) {
    ASSERT_TRUE(network.run_until([&] { return (*receiver)->peek_done() != nullptr; }));
    const Completion c = (*receiver)->consume((*receiver)->peek_done());
    EXPECT_EQ(c.status, Status::success);
    EXPECT_EQ(c.match_info, next[c.match_info % 2]);
    next[c.match_info % 2] += 2;
  }
}

TEST_F(PullScheduleTest, turns__short_pulls_need_none) {
  open_senders(3);
  Request* one = receive(*receiver, room(8 * kLength), 0);
  Request* two = receive(*receiver, room(8 * kLength), 1);
  send_from(0, 8 * kLength, 0);
  send_from(1, 8 * kLength, 1);
  ASSERT_TRUE(network.run_until([&] { return !schedule().turns.empty(); }));
  const auto asked = receiver->counters[Counter::send_pull_request];
  Request* r = receive(*receiver, room(100), 2);
  Bytes& out = message(100, 2);
  Request* s = send(*senders[2], to_receiver[2], out, 2, true);  // synchronous, so it is pulled
  EXPECT_EQ(wait(*receiver, r).status, Status::success);
  EXPECT_EQ(wait(*senders[2], s).status, Status::success);
  EXPECT_GT(receiver->counters[Counter::send_pull_request], asked);
  EXPECT_FALSE((*receiver)->done(one));
  for (Request* large : {one, two}) EXPECT_EQ(wait(*receiver, large).status, Status::success);
}

// Frames of 64 KiB hold a message of 64 KiB except for some bytes.
TEST_F(PullScheduleTest, turns__a_few_bytes_left_over_are_no_turn_of_their_own) {
  Config config;
  config.mtu = 65535;
  open_senders(1, config);
  // Otherwise they came with the RNDV.
  to_receiver[0]->agreed.features &= static_cast<std::uint16_t>(~wire::kFeatureTail);
  Bytes& in = room(65536);
  Request* r = receive(*receiver, in, 1);
  const auto before = receiver->counters[Counter::send_pull_request];
  send_from(0, 65536, 1);
  EXPECT_EQ(wait(*receiver, r).status, Status::success);
  EXPECT_EQ(receiver->counters[Counter::recv_pull_reply], 2U);
  EXPECT_EQ(receiver->counters[Counter::send_pull_request] - before, 1U);
}

TEST_F(PullScheduleTest, window__losses_narrow_it_and_time_widens_it) {
  open_senders(2);
  const std::uint32_t before = schedule().shared.bytes();
  network.faults.loss = 0.02;
  for (int round = 0; round < 4; round++) {
    std::vector<Request*> receives;
    for (std::size_t i = 0; i < 2; i++) {
      receives.push_back(receive(*receiver, room(4 * kLength), i));
      send_from(i, 4 * kLength, i);
    }
    for (Request* r : receives) EXPECT_EQ(wait(*receiver, r).status, Status::success);
    if (round == 0) {
      EXPECT_LT(schedule().shared.bytes(), before);
      EXPECT_GE(schedule().shared.bytes(), 2U * to_receiver[0]->agreed.sizes.pull_reply_max);
      network.faults.loss = 0;
    }
  }
  EXPECT_GT(schedule().shared.bytes(), before / 2);
}

TEST_F(PullScheduleTest, handles__a_dead_sender_leaves_half_of_them) {
  Config config;
  config.reliability.peer_timeout = 60 * kSecond;
  open_senders(2, config);
  // More rendezvous than there are handles, in rounds of as many as a sender may have open. None is answered.
  for (std::size_t i = 0; i < 600; i++) {
    receive(*receiver, room(2000), 1000 + i);
    receive(*receiver, room(40000), i % 200);
  }
  network.faults.drop = [&](const Bytes& f) {
    return type_of(f) == wire::PacketType::pull && mac_load(f.data()) == (*senders[0])->config().nic;
  };
  for (std::size_t i = 0; i < 600; i++) send(*senders[0], to_receiver[0], message(2000, i), 1000 + i, true);
  network.run_for(kSecond);
  for (std::size_t i = 0; i < 4; i++) {
    Request* r = receive(*receiver, room(40000), 5000 + i);
    send_from(1, 40000, 5000 + i);
    EXPECT_EQ(wait(*receiver, r, kSecond).status, Status::success) << i;
  }
}

TEST_F(PullScheduleTest, window__losses_that_only_silence_shows_narrow_it) {
  open_senders(8);
  const std::uint32_t before = schedule().shared.bytes();
  std::uint64_t replies = 0;
  network.faults.drop = [&](const Bytes& f) {
    return type_of(f) == wire::PacketType::pull_reply && replies++ % 4 == 3;
  };
  for (int round = 0; round < 10; round++) {
    std::vector<Request*> receives;
    for (std::size_t i = 0; i < 8; i++) {
      receives.push_back(receive(*receiver, room(33000), i));
      send_from(i, 33000, i);
    }
    for (Request* r : receives) EXPECT_EQ(wait(*receiver, r).status, Status::success);
  }
  EXPECT_LT(schedule().shared.bytes(), before);
}

TEST_F(PullScheduleTest, rtt__a_sender_that_did_not_run_says_nothing_about_the_way) {
  open_senders(1);
  Request* r = receive(*receiver, room(kLength), 0);
  network.faults.drop = nullptr;
  senders[0]->paused = true;
  // The sender's RNDV is under way before it stops.
  senders[0]->paused = false;
  send_from(0, kLength, 0);
  senders[0]->paused = true;
  network.run_for(kSecond);
  senders[0]->paused = false;
  EXPECT_EQ(wait(*receiver, r).status, Status::success);
  EXPECT_LE(schedule().rtt, 5 * kMillisecond);
}

}  // namespace
}  // namespace omx::protocol::test
