// SPDX-License-Identifier: BSD-3-Clause
// Single PULL and PULL_REPLY packets: which are answered or refused, and which data are written.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class PullPackets : public PairTest {};

// A reply names neither session nor number. Only the handle tells a pull of a former instance from the first
// one of the next.
TEST_F(PullPackets, pull_reply_received__late_ones_for_an_instance_that_is_gone) {
  open();
  std::vector<Bytes> late;
  network.faults.drop = [&](const Bytes& frame) {
    if (type_of(frame) != wire::PacketType::pull_reply) return false;
    late.push_back(frame);
    return true;
  };
  (void)receive(*b, room(5000), 1);
  (void)send(*a, to_b, message(5000, 1), 1, true);
  network.run_for(kMillisecond);
  ASSERT_FALSE(late.empty());
  b = &network.restart(1, with_session(0x2000));
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  to_b = connect(network, *a, *b);
  Bytes& in = room(5000);
  Bytes& out = message(5000, 2);
  Request* r = receive(*b, in, 2);
  Request* s = send(*a, to_b, out, 2, true);
  ASSERT_TRUE(network.run_until([&] { return r->rx.pull != nullptr; }));
  for (const Bytes& frame : late) network.inject(frame);
  network.run_for(kMillisecond);
  network.faults.drop = nullptr;
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
  EXPECT_EQ(in, out);
}

TEST_F(PullPackets, large_notified__only_of_the_region_s_present_use) {
  open();
  Request* s = send(*a, to_b, message(5000), 1, true);
  ASSERT_TRUE(network.run_until([&] { return s->phase == Phase::await_notify; }));
  const auto notify = [&](std::uint8_t region, std::uint8_t generation) {
    wire::Notify packet;
    packet.session = (*a)->config().session;
    packet.total_length = 5000;
    packet.rdma_id = region;
    packet.rdma_seqnum = generation;
    packet.seqnum = to_b->counting.next_match;
    packet.piggyack = to_b->counting.next_send;
    network.inject(
        hand_made((*b)->config().nic, (*a)->config().nic, wire::PacketType::notify,
                  [&](std::byte* out, const wire::Head& head) { return encode_notify(out, head, packet); }));
    const Seqnum wanted = to_b->counting.next_match;
    network.run_for(kMillisecond / 100);
    return to_b->counting.next_match == seq_add(wanted, 1);  // taken as a message, whatever else happens
  };
  EXPECT_TRUE(notify(s->region, static_cast<std::uint8_t>(s->region_generation - 1)));
  EXPECT_TRUE(notify(static_cast<std::uint8_t>(s->region + 1), s->region_generation));
  EXPECT_FALSE((*a)->done(s));
  EXPECT_TRUE(notify(s->region, s->region_generation));
  EXPECT_TRUE((*a)->done(s));
}

TEST_F(PullPackets, pull_serve__only_the_right_region_range_and_peer) {
  open();
  Host& c = network.add({});
  (void)connect(network, c, *a);
  Request* s = send(*a, to_b, message(50000), 1);
  network.run_for(10 * kMillisecond);
  wire::Pull good;
  good.session = (*a)->config().session;
  good.rdma_id = s->region;
  good.rdma_seqnum = s->region_generation;
  good.total_length = 50000;
  good.block_length = 1000;
  good.reply_max = 1000;
  const auto replies = [&](const Host& from, const wire::Pull& pull) {
    const auto before = a->counters[Counter::send_pull_reply];
    network.inject(hand_made_pull(from, *a, pull));
    network.run_for(kMillisecond);
    return a->counters[Counter::send_pull_reply] - before;
  };
  EXPECT_EQ(replies(*b, good), 1U);
  EXPECT_EQ(replies(c, good), 0U) << "another peer's region";
  wire::Pull p = good;
  p.rdma_seqnum++;
  EXPECT_EQ(replies(*b, p), 0U);
  p = good;
  p.rdma_id = 0xFFFFFFFF;
  EXPECT_EQ(replies(*b, p), 0U);
  EXPECT_EQ(a->counters[Counter::send_nack_mcp], 3U);
  p = good;
  p.frame_index = 49;
  EXPECT_EQ(replies(*b, p), 1U);
  p.block_length = 1001;
  EXPECT_EQ(replies(*b, p), 0U) << "one byte behind the end";
  p = good;
  p.frame_index = 0xFFFFFFFF;
  EXPECT_EQ(replies(*b, p), 0U);
  p = good;
  p.rdma_offset = 0xFFFFFFFF;
  EXPECT_EQ(replies(*b, p), 0U);
  p = good;
  p.block_length = 0;
  EXPECT_EQ(replies(*b, p), 0U);
  p.block_length = 50000;
  p.reply_max = 64;
  EXPECT_EQ(replies(*b, p), 0U) << "too many frames";
  p.reply_max = 1;
  EXPECT_EQ(replies(*b, p), 0U);
  p.reply_max = 0xFFFF;
  EXPECT_EQ(replies(*b, p), 0U) << "larger than our interface carries";
  p = good;
  p.first_frame_offset = 1000;
  EXPECT_EQ(replies(*b, p), 0U);
  p.first_frame_offset = 0xFFFFFFFF;
  EXPECT_EQ(replies(*b, p), 0U);
  p = good;
  p.session++;
  EXPECT_EQ(replies(*b, p), 0U);
  EXPECT_EQ((*a)->done(s), false);
}

// Both sides of a peer without extension block derive the frames of a block from constants
// (docs/reference/wire.md 4).
TEST_F(PullPackets, pull_serve__legacy_peers_get_no_more_than_a_block) {
  for (const wire::Mode mode : {wire::Mode::omx, wire::Mode::mxoe}) {
    network.clear();
    Config config;
    config.extension = false;
    config.mode = mode;
    open(config, config);
    Request* s = send(*a, to_b, message(400000), 1);
    network.run_for(10 * kMillisecond);
    wire::Pull pull;
    pull.session = (*a)->config().session;
    pull.rdma_id = s->region;
    pull.rdma_seqnum = s->region_generation;
    pull.total_length = 400000;
    const auto replies = [&](std::uint32_t length) {
      const auto before = a->counters[Counter::send_pull_reply];
      pull.block_length = length;
      network.inject(hand_made_pull(*b, *a, pull));
      network.run_for(kMillisecond);
      return a->counters[Counter::send_pull_reply] - before;
    };
    const std::uint32_t frames = to_b->agreed.sizes.pull_frames;
    const std::uint32_t block = frames * to_b->agreed.sizes.pull_reply_max;
    EXPECT_EQ(replies(block), frames);
    EXPECT_EQ(replies(block + 1), 0U);
  }
}

// The repeated request equals the first one and follows at once.
TEST_F(PullPackets, pull_serve__a_whole_block_lost_is_sent_again_at_once) {
  for (const bool extension : {true, false}) {
    network.clear();
    Config config;
    config.extension = extension;
    open(config, config);
    network.run_for(kSecond);
    network.faults.drop = drop_next(wire::PacketType::pull_reply, 32);
    const TimeNs start = network.now;
    exchange(*a, to_b, *b, 400000);
    EXPECT_GT(b->counters[Counter::pull_rerequest_gap], 0U);
    EXPECT_EQ(b->counters[Counter::pull_rerequest_timer], 0U);
    EXPECT_LT(network.now - start, (extension ? 10 : 100) * kMillisecond);
    network.faults = {};
  }
}

TEST_F(PullPackets, pull_serve__another_message_in_the_same_region_is_not_a_repetition) {
  open();
  network.run_for(kSecond);
  wire::Pull pull;
  pull.session = (*a)->config().session;
  pull.total_length = 50000;
  pull.block_length = pull.reply_max = 1000;
  pull.pull_handle = 77;
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  for (std::uint64_t i = 1; i <= 2; i++) {
    // Regions are used in turn.
    Bytes& data = message(50000);
    Request* s = send(*a, to_b, data, i);
    while (s->region != 5) {
      (*a)->disconnect(network.now, to_b);
      ASSERT_NE(connect(network, *a, *b), nullptr);
      s = send(*a, to_b, data, i);
    }
    pull.rdma_id = s->region;
    pull.rdma_seqnum = s->region_generation;
    for (int repeated = 0; repeated < 2; repeated++) network.inject(hand_made_pull(*b, *a, pull));
    network.run_for(100'000);
    EXPECT_EQ(a->counters[Counter::send_pull_reply], i);
    EXPECT_EQ(a->counters[Counter::drop_pull_repeated], i);
    (*a)->disconnect(network.now, to_b);
    ASSERT_NE(connect(network, *a, *b), nullptr);
  }
}

TEST_F(PullPackets, pull_serve__what_the_timer_repeated_while_we_computed_is_sent_once) {
  open();
  network.run_for(kSecond);
  Bytes& in = room(400000);
  Request* r = receive(*b, in, 1);
  network.faults.drop = [this](const Bytes& f) {
    if (type_of(f) == wire::PacketType::rndv) a->paused = true;
    return false;
  };
  (void)send(*a, to_b, message(400000), 1);
  network.run_for(200 * kMillisecond);
  network.faults.drop = nullptr;
  a->paused = false;
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_GT(a->counters[Counter::drop_pull_repeated], 0U);
  EXPECT_EQ(b->counters[Counter::drop_pull_reply_duplicate], 0U);
}

TEST_F(PullPackets, pull_reply__wrong_ones_write_nothing) {
  open();
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  Bytes& in = room(100000);
  Request* r = receive(*a, in, 1);
  (void)send(*b, to_a, message(100000), 1);
  ASSERT_TRUE(network.run_until([&] { return r->rx.pull != nullptr; }, kSecond));
  const std::uint32_t unit = r->rx.pull->unit;
  wire::PullReply good;
  good.frame_length = static_cast<std::uint16_t>(unit);
  good.pull_handle = r->rx.pull->handle;
  good.magic = wire::kPullMagic ^ (*a)->config().endpoint;
  const auto put = [&](const Host& from, const wire::PullReply& reply) {
    network.inject(hand_made(
        from.endpoint->config().nic, (*a)->config().nic, wire::PacketType::pull_reply,
        [&](std::byte* out, const wire::Head& head) {
          const wire::Head own{head.dst, head.src, 0, head.type};
          return encode_pull_reply(out, own, reply);
        },
        Bytes(reply.frame_length, std::byte{0x55})));
    network.run_for(kMillisecond);
  };
  Host& c = network.add({});
  put(c, good);
  wire::PullReply p = good;
  p.frame_length--;
  put(*b, p);
  p = good;
  p.msg_offset = 1;
  put(*b, p);
  p = good;
  p.frame_seqnum = 255;
  p.msg_offset = 255 * unit;
  put(*b, p);
  p = good;
  p.pull_handle++;
  put(*b, p);
  p = good;
  p.pull_handle = 0xFFFFFFFF;
  put(*b, p);
  p = good;
  p.magic ^= 0x100;
  put(*b, p);
  EXPECT_EQ(in, Bytes(100000, std::byte{0xEE}));
  put(*b, good);
  EXPECT_EQ(in[unit - 1], std::byte{0x55});
  EXPECT_EQ(in[unit], std::byte{0xEE});
}

}  // namespace
}  // namespace omx::protocol::test
