// SPDX-License-Identifier: BSD-3-Clause
// Windows, acknowledgements, repetition and order (send.cc, ack.cc, reorder.cc, retransmit.cc).
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class Retransmit : public PairTest {
 protected:
  // Sends `count` messages of `length` bytes. All are received in order.
  void stream(Host& from, Peer* to, Host& at, int count, std::size_t length) {
    std::deque<std::pair<Request*, std::uint32_t>> receives;
    std::uint32_t sent = 0, received = 0;
    std::deque<Bytes> in;
    std::vector<Bytes> out(static_cast<std::size_t>(count), Bytes(std::max<std::size_t>(length, 4)));
    const bool ok = network.run_until(
        [&] {
          while (in.size() < 300 && received + in.size() < static_cast<std::uint32_t>(count)) {
            in.emplace_back(out[0].size());
            receives.emplace_back(receive(at, in.back(), 5), 0);
          }
          while (sent < static_cast<std::uint32_t>(count) && sent < received + 400) {
            std::memcpy(out[sent].data(), &sent, 4);
            Segment s = segment(out[sent]);
            SendOp op;
            op.peer = to;
            op.segments = {&s, 1};
            op.match_info = 5;
            op.forgotten = true;
            (void)from->send(network.now, op);
            sent++;
          }
          while (!receives.empty() && at->done(receives.front().first)) {
            const Completion c = at->consume(receives.front().first);
            if (c.status != Status::success) ADD_FAILURE() << static_cast<int>(c.status);
            std::uint32_t number;
            std::memcpy(&number, in.front().data(), 4);
            if (number != received) {
              ADD_FAILURE() << "got " << number << " instead of " << received;
              return true;
            }
            received++;
            receives.pop_front();
            in.pop_front();
          }
          return received == static_cast<std::uint32_t>(count);
        },
        3600 * kSecond);
    EXPECT_TRUE(ok) << "received " << received << " of " << count;
  }
};

// A queue that others keep full takes one frame now and then. Of a burst it takes the first.
class FullQueue : public Retransmit {
 protected:
  void start(const Config& config = {}) {
    open(config, config);
    network.faults.drop = [this](const Bytes& frame) {
      if (type_of(frame) != wire::PacketType::medium) return false;
      if (network.now < taken_ + kMillisecond / 4) return true;
      taken_ = network.now;
      return false;
    };
  }
  // Sends messages of many fragments at once. Returns when the last one has come.
  TimeNs arrives(int messages) {
    std::deque<std::pair<Request*, Bytes*>> receives;
    for (int i = 0; i < messages; i++) {
      Bytes& in = room(30'000);
      receives.emplace_back(receive(*b, in, static_cast<std::uint64_t>(i)), &in);
    }
    for (int i = 0; i < messages; i++)
      (void)send(*a, to_b, message(30'000, static_cast<std::uint64_t>(i)), static_cast<std::uint64_t>(i));
    for (std::uint64_t i = 0; const auto& [request, in] : receives) {
      EXPECT_EQ(wait(*b, request).status, Status::success);
      EXPECT_EQ(*in, pattern(i++, 30'000));
    }
    return network.now;
  }

 private:
  TimeNs taken_ = 0;
};

TEST_F(FullQueue, fragments_come_one_by_one) {
  start();
  EXPECT_LT(arrives(1), 200 * kMillisecond);
}

// The next message begins with the time that the one before it needed.
TEST_F(FullQueue, messages_of_a_burst_come_one_after_the_other) {
  start();
  to_b->tx.eager_proven = 8;  // all of them leave at once
  EXPECT_LT(arrives(5), 400 * kMillisecond);
}

// Between two fragments the time since the last one is short. A peer that has gone is given up all the same.
TEST_F(Retransmit, spread__peer_that_has_gone_is_given_up) {
  open();
  Segment data = segment(message(30'000, 1));
  SendOp op;
  op.peer = to_b;
  op.segments = {&data, 1};
  op.delivered = true;
  network.faults.drop = [](const Bytes&) { return true; };
  const Completion end = wait(*a, (*a)->send(network.now, op).value());
  EXPECT_EQ(end.status, Status::endpoint_unreachable);
}

TEST_F(Retransmit, numbers__wrap_around_under_faults) {
  open();
  network.faults.loss = 0.005;
  network.faults.duplicate = 0.01;
  network.faults.reorder = 0.01;
  stream(*a, to_b, *b, 17000, 4);
  stream(*b, to_a, *a, 17000, 4);
  network.faults = {};
  exchange_both_ways();
  EXPECT_EQ(seq_session(to_b->counting.next_send), 0);
}

TEST_F(Retransmit, numbers__wrap_around_towards_legacy_peers) {
  open(reference(), reference());
  network.faults.loss = 0.001;
  stream(*a, to_b, *b, 17000, 4);
}

TEST_F(Retransmit, window__full_bit_mask_of_early_messages) {
  open();
  network.faults.drop = drop_next(wire::PacketType::tiny, 1);
  for (int i = 0; i < 1000; i++) (void)send(*a, to_b, message(4), 1);
  for (int i = 0; i < 1000; i++)
    EXPECT_EQ(wait(*b, receive(*b, room(4), 1), kSecond).status, Status::success);
  EXPECT_LE(a->counters[Counter::resend_sack] + a->counters[Counter::resend_timeout], 20U);
  EXPECT_GT(a->counters[Counter::throttled], 0U);
}

TEST_F(Retransmit, window__outstanding_numbers_and_frames_are_bounded) {
  Config few;
  few.eager_frames = 16;
  open({}, few);
  b->paused = true;
  for (int i = 0; i < 1000; i++) (void)send(*a, to_b, message(4), 1);
  EXPECT_LE(to_b->tx.frames_unacked, 16U);
  network.run_for(100 * kMillisecond);
  b->paused = false;
  for (int i = 0; i < 1000; i++)
    EXPECT_EQ(wait(*b, receive(*b, room(4), 1), kSecond).status, Status::success);
}

TEST_F(Retransmit, window__a_medium_larger_than_the_credit_still_goes) {
  Config few;
  few.eager_frames = 1;
  open({}, few);
  exchange(*a, to_b, *b, 30000);
  exchange(*a, to_b, *b, 30000);
}

// Of each burst the queue of a port takes the first frames and loses the others.
TEST_F(Retransmit, window__a_medium_longer_than_a_queue_arrives_piece_by_piece) {
  for (const unsigned room_for : {1U, 3U, 20U}) {
    open();
    network.faults.drop = [room_for, burst = TimeNs{0}, n = 0U, this](const Bytes& frame) mutable {
      if (type_of(frame) != wire::PacketType::medium) return false;
      if (std::exchange(burst, network.now) != network.now) n = 0;
      return n++ >= room_for;
    };
    Bytes& in = room(30'000);
    Request* r = receive(*b, in, 1);
    (void)send(*a, to_b, message(30'000, 7), 1);
    EXPECT_EQ(wait(*b, r, 60 * kSecond).status, Status::success) << "room for " << room_for;
    EXPECT_TRUE(in == pattern(7, 30'000)) << "room for " << room_for;
  }
}

TEST_F(Retransmit, resend__stops_at_the_ack) {
  open();
  network.faults.drop = drop_next(wire::PacketType::tiny, 1);
  exchange(*a, to_b, *b, 4);
  const auto sent = a->counters[Counter::send_tiny];
  EXPECT_EQ(sent, 2U);
  network.run_for(10 * kSecond);
  EXPECT_EQ(a->counters[Counter::send_tiny], sent);
  EXPECT_FALSE(network.step()) << "idle endpoints are silent";
}

TEST_F(Retransmit, resend__backs_off_while_nobody_answers) {
  open();
  b->paused = true;
  network.faults.drop = [](const Bytes&) { return true; };
  (void)send(*a, to_b, message(4), 1);
  network.run_for(100 * kSecond);
  EXPECT_LT(a->counters[Counter::send_tiny], 120U);
  EXPECT_GT(a->counters[Counter::send_tiny], 50U);
}

TEST_F(Retransmit, ack__delayed_once_and_piggybacked) {
  open();
  (void)send(*a, to_b, message(4), 1);
  EXPECT_EQ(wait(*b, receive(*b, room(4), 1)).status, Status::success);
  (void)send(*b, to_a, message(4), 1);
  EXPECT_EQ(wait(*a, receive(*a, room(4), 1)).status, Status::success);
  network.run_for(kSecond);
  EXPECT_EQ(b->counters[Counter::send_lib_ack], 0U) << "the answer carried it";
  EXPECT_EQ(a->counters[Counter::send_lib_ack], 1U);
}

// Frames of incomplete messages are acknowledged when the messages are complete. An earlier acknowledgement
// does not cover them.
TEST_F(Retransmit, ack__messages_that_become_complete_late_are_owed_with_all_their_frames) {
  open();
  std::vector<Bytes> ends;
  network.faults.drop = [&](const Bytes& frame) {
    wire::Medium packet;
    const std::byte* data = nullptr;
    const bool end = type_of(frame) == wire::PacketType::medium &&
                     wire::decode_medium(frame, wire::Mode::omx, true, packet, &data) == wire::Drop::none &&
                     28000U - packet.frag_seqnum * packet.frag_unit <= packet.frag_unit;
    if (end) ends.push_back(frame);
    return end;
  };
  to_b->tx.eager_proven = 8;  // the path has carried as much before
  for (int i = 0; i < 20; i++) (void)send(*a, to_b, message(28000), 1);
  network.run_for(50'000);
  ASSERT_GT(ends.size(), 6U);
  ASSERT_LT(ends.size(), 20U) << "the credit holds the others back";
  const auto held = std::move(ends);
  network.faults = {};
  for (const Bytes& end : held) {
    network.inject(end);
    network.run_for(10'000);
  }
  EXPECT_EQ(to_b->tx.queued.front(), nullptr) << "nothing waits for a delayed acknowledgement";
}

TEST_F(Retransmit, ack__immediate_after_four_from_legacy_peers) {
  open(reference(), reference());
  for (int i = 0; i < 4; i++) (void)send(*a, to_b, message(4), 1);
  network.run_for(kMillisecond);
  EXPECT_EQ(b->counters[Counter::send_lib_ack], 1U);
  (void)send(*a, to_b, message(4), 1);
  network.run_for(15 * kMillisecond);
  EXPECT_EQ(b->counters[Counter::send_lib_ack], 1U);
  network.run_for(2 * kMillisecond);
  EXPECT_EQ(b->counters[Counter::send_lib_ack], 2U);
}

TEST_F(Retransmit, ack__lost_one_is_repeated_for_a_duplicate) {
  Config config;
  config.buffered_sends_max = 0;
  open(config, config);
  network.faults.drop = drop_next(wire::PacketType::truc, 1);
  EXPECT_EQ(wait(*a, send(*a, to_b, message(4), 1), kSecond).status, Status::success);
  EXPECT_EQ(b->counters[Counter::duplicate], 1U);
}

// The path may lose the newest message again each time, if the older ones that are repeated with it fill a
// queue (found by omx_sim --workload congestion --seed 3073788).
TEST_F(Retransmit, ack__lost_one_is_repeated_for_an_old_message__legacy) {
  Config config;
  config.extension = false;
  config.buffered_sends_max = 0;
  open(config, config);
  const auto lose_ack = drop_next(wire::PacketType::truc, 1);
  network.faults.drop = [&, sent = 0](const Bytes& frame) mutable {
    return type_of(frame) == wire::PacketType::small ? sent++ > 0 : lose_ack(frame);
  };
  Request* const first = send(*a, to_b, message(4), 1);
  Request* const second = send(*a, to_b, message(100), 2);
  EXPECT_EQ(wait(*a, second, 10 * kSecond).status, Status::success);
  EXPECT_EQ(wait(*a, first, kSecond).status, Status::success);
}

TEST_F(Retransmit, ack__bitmap_of_what_was_dropped_again_is_not_believed_for_ever) {
  // The receiver reports reordered messages to the sender. Then it has no memory to keep them. They must come
  // again.
  Config small;
  small.buffer_bytes = 20 * 512;
  open({}, small);
  network.faults.drop = drop_next(wire::PacketType::tiny, 1);
  for (int i = 0; i < 200; i++) (void)send(*a, to_b, message(4), 1);
  network.run_for(5 * kSecond);
  EXPECT_GT(b->counters[Counter::back_pressure], 0U);
  const auto frames = network.frames_sent;
  network.run_for(kSecond);
  EXPECT_LT(network.frames_sent, frames + 2000) << "a refused message is not repeated at full speed";
  for (int i = 0; i < 200; i++)
    ASSERT_EQ(wait(*b, receive(*b, room(4), 1), 10 * kSecond).status, Status::success) << i;
  EXPECT_TRUE(network.run_until([&] { return (*a)->drained(); }, 10 * kSecond));
}

TEST_F(Retransmit, back_pressure__bounded_and_recovers) {
  for (const bool extension : {true, false}) {
    for (const std::size_t length : {4, 100, 5000, 20000}) {
      Config small;
      small.extension = extension;
      small.buffer_bytes = length < 5000 ? 16 * 1024 : 64 * 1024;
      small.parks = false;
      small.reliability.pull_delay_extended = 5 * kMillisecond;
      network.clear();
      open(small, small);
      network.faults.loss = 0.02;
      std::vector<Request*> sends;
      for (int i = 0; i < 150; i++) sends.push_back(send(*a, to_b, message(length, i), 1));
      network.run_for(10 * kSecond);  // legacy peers repeat slowly
      EXPECT_GT(b->counters[Counter::back_pressure], 0U) << length;
      EXPECT_LE((*b)->memory().buffers, small.buffer_bytes);
      EXPECT_LE((*b)->state().matching.unexpected.size() * sizeof(Unexpected),
                small.buffer_bytes + sizeof(Unexpected));
      for (int i = 0; i < 150; i++) {
        Bytes& in = room(length);
        ASSERT_EQ(wait(*b, receive(*b, in, 1), 30 * kSecond).status, Status::success) << i;
        ASSERT_EQ(in, pattern(i, length)) << i;
      }
      for (Request* s : sends) EXPECT_EQ(wait(*a, s, 30 * kSecond).status, Status::success);
      network.faults.loss = 0;
    }
  }
}

TEST_F(Retransmit, back_pressure__does_not_stop_posting_of_scattered_receives) {
  Config small;
  small.buffer_bytes = 8 * 1024;
  open({}, small);
  for (int i = 0; i < 100; i++) (void)send(*a, to_b, message(100, 3), 1);
  network.run_for(kSecond);
  ASSERT_GT(b->counters[Counter::back_pressure], 0U);
  for (int i = 0; i < 100; i++) {
    Bytes& in = room(100);
    Segment parts[4] = {{in.data(), 25}, {in.data() + 25, 25}, {in.data() + 50, 25}, {in.data() + 75, 25}};
    ReceiveOp op;
    op.segments = parts;
    op.match_info = 1;
    const auto r = (*b)->receive(network.now, op);
    ASSERT_TRUE(r.has_value()) << i;
    ASSERT_EQ(wait(*b, *r, 10 * kSecond).status, Status::success);
    ASSERT_EQ(in, pattern(3, 100));
  }
}

TEST_F(Retransmit, drained__until_forgotten_and_buffered_sends_are_acknowledged) {
  open();
  EXPECT_TRUE((*a)->drained());
  b->paused = true;
  Request* s = send(*a, to_b, message(4), 1);
  EXPECT_TRUE((*a)->done(s));
  EXPECT_FALSE((*a)->drained());
  (*a)->consume(s);
  EXPECT_FALSE((*a)->drained());
  b->paused = false;
  EXPECT_TRUE(network.run_until([&] { return (*a)->drained(); }, kSecond));
}

TEST_F(Retransmit, flush_acks__sends_what_is_delayed) {
  open();
  Request* s = send(*a, to_b, message(4), 1);
  network.run_for(100'000);
  EXPECT_EQ(b->counters[Counter::send_lib_ack], 0U);
  (*b)->flush_acks(network.now);
  EXPECT_EQ(b->counters[Counter::send_lib_ack], 1U);
  EXPECT_EQ(wait(*a, s, kMillisecond).status, Status::success);
}

TEST_F(Retransmit, buffered_sends__limit_turns_sends_synchronous_with_the_ack) {
  Config config;
  config.buffered_sends_max = 3;
  open(config, {});
  b->paused = true;
  std::vector<Request*> sends;
  for (int i = 0; i < 6; i++) sends.push_back(send(*a, to_b, message(100), 1));
  int done = 0;
  for (Request* s : sends) done += (*a)->done(s);
  EXPECT_EQ(done, 3);
  EXPECT_TRUE(*(*a)->buffered(sends[0]));
  EXPECT_FALSE(*(*a)->buffered(sends[5]));
  b->paused = false;
  for (Request* s : sends) EXPECT_EQ(wait(*a, s).status, Status::success);
  network.run_for(kSecond);
  EXPECT_EQ((*a)->state().completion.buffered_sends, 0U);
  EXPECT_EQ((*a)->state().memory.requests.live(), 0U);
  EXPECT_EQ((*a)->memory().buffers, 0U);
}

// No later message would show the gap, and the receiver of the last one should not wait for long.
TEST_F(Retransmit, last__lost_ones_are_sent_again_soon_and_once) {
  open();
  for (const std::size_t length : {0, 20, 100, 100000}) {
    network.run_for(kSecond);
    const auto type = length > 128  ? wire::PacketType::rndv
                      : length > 32 ? wire::PacketType::small
                                    : wire::PacketType::tiny;
    network.faults.drop = drop_next(type, 1);
    const TimeNs began = network.now;
    exchange(*a, to_b, *b, length);
    EXPECT_LT(network.now - began, 12 * kMillisecond) << length;
  }
  EXPECT_EQ(a->counters[Counter::resend_tail], 4U);
  EXPECT_EQ(a->counters[Counter::resend_timeout], 0U);

  network.faults.drop = drop_next(wire::PacketType::tiny, 2);
  const TimeNs began = network.now;
  exchange(*a, to_b, *b, 20);
  EXPECT_LT(network.now - began, 40 * kMillisecond);
  EXPECT_EQ(a->counters[Counter::resend_tail], 5U) << "then the ordinary timer's turn comes";
  EXPECT_EQ(a->counters[Counter::resend_timeout], 1U);
}

TEST_F(Retransmit, truc__counter_wraps_and_old_ones_are_ignored) {
  Config config;
  config.buffered_sends_max = 0;
  open(config, config);
  to_a->counting.send_acknum = 0xFFFFFFFE;
  to_b->counting.recv_acknum = 0xFFFFFFFE;
  for (int i = 0; i < 5; i++)
    EXPECT_EQ(wait(*a, send(*a, to_b, message(4), 1), kSecond).status, Status::success);
  EXPECT_LT(to_b->counting.recv_acknum, 10U);
  EXPECT_EQ(a->counters[Counter::resend_timeout], 0U);
}

TEST_F(Retransmit, send_buffers__exhausted_falls_back_to_user_memory) {
  Config config;
  config.send_buffer_bytes = 1024;
  open(config, {});
  b->paused = true;
  std::vector<Request*> sends;
  for (int i = 0; i < 30; i++) sends.push_back(send(*a, to_b, message(100, i), 1));
  b->paused = false;
  for (int i = 0; i < 30; i++) {
    Bytes& in = room(100);
    EXPECT_EQ(wait(*b, receive(*b, in, 1)).status, Status::success);
    EXPECT_EQ(in, pattern(i, 100));
  }
  for (Request* s : sends) EXPECT_EQ(wait(*a, s).status, Status::success);
}

TEST_F(Retransmit, early__reorder_buffer_of_255_and_hostile_fragments) {
  open();
  // A number 300 ahead of the next one is neither reordered nor a duplicate worth an answer. The engine keeps
  // nothing of it.
  wire::Eager packet;
  packet.session = (*b)->config().session;
  packet.piggyack = to_b->counting.next_match;
  packet.length = 4;
  for (const std::uint32_t ahead : {255U, 256U, 300U, 8000U}) {
    packet.seqnum = seq_add(to_b->counting.next_send, ahead);
    network.inject(hand_made(
        (*a)->config().nic, (*b)->config().nic, wire::PacketType::tiny,
        [&](std::byte* out, const wire::Head& head) { return encode_eager(out, head, packet); }, Bytes(4)));
  }
  network.run_for(kMillisecond);
  EXPECT_EQ(b->counters[Counter::early], 1U);
}

TEST_F(Retransmit, sack__a_receiver_without_memory_is_not_flooded) {
  Config config;
  config.buffer_bytes = 256 * 1024;
  config.parks = false;
  open(config, config);
  // B holds the last of A's messages in its reorder buffer, and has no memory for the earlier ones.
  int left = 99;
  network.faults.drop = [&](const Bytes& f) {
    return type_of(f) == wire::PacketType::small && f[11] == std::byte{1} && left-- > 0;
  };
  std::vector<Request*> sends;
  for (int i = 0; i < 100; i++) sends.push_back(send(*a, to_b, message(100), 1));
  left = 1 << 30;
  network.run_for(kMillisecond);
  for (int host = 0; host < 4; host++) {
    Host& c = network.add(config);
    Peer* c_to_b = connect(network, c, *b);
    for (const std::size_t length : {8000, 8})
      for (int i = 0; i < 250; i++) (void)send(c, c_to_b, message(length), length);
    network.run_for(kSecond);
  }
  network.faults.drop = nullptr;
  network.run_for(10 * kSecond);
  ASSERT_GT(b->counters[Counter::back_pressure], 0U);
  ASSERT_NE(to_a->rx.reorder, nullptr);
  const std::uint64_t before = a->counters[Counter::resend_sack];
  network.run_for(10 * kSecond);
  EXPECT_LT(a->counters[Counter::resend_sack] - before, 100U * 10 * 2);
  // As soon as there is room again, all messages arrive.
  for (int i = 0; i < 100; i++) (void)receive(*b, room(8000), 8000);
  for (int i = 0; i < 100; i++)
    EXPECT_EQ(wait(*b, receive(*b, room(100), 1), 5 * kSecond).status, Status::success);
}

}  // namespace
}  // namespace omx::protocol::test
