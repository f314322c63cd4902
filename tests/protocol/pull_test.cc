// SPDX-License-Identifier: BSD-3-Clause
// Large messages: both ends of a pull, regions, NOTIFY.
#include <sys/mman.h>

#include "protocol/state/sizes.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class PullTest : public PairTest {};

Config sized(wire::Mode mode, std::uint32_t mtu, bool extension, bool checksum = false) {
  Config config;
  config.mode = mode;
  config.mtu = mtu;
  config.extension = extension;
  config.checksum = checksum;
  return config;
}

TEST_F(PullTest, frames__eight_bit_number_wraps_under_faults) {
  for (const auto mode : {wire::Mode::omx, wire::Mode::mxoe}) {
    for (const bool extension : {true, false}) {
      network.clear();
      const Config config = sized(mode, 1500, extension);
      open(config, config);
      network.faults.loss = 0.02;
      network.faults.duplicate = 0.05;
      network.faults.reorder = 0.1;
      exchange(*a, to_b, *b, 1500000);
      network.faults = {};
    }
  }
}

// Even a single packet, such as the NOTIFY of one large message, is acknowledged in time.
TEST_F(PullTest, lossless__nothing_is_sent_twice) {
  for (const bool extension : {true, false}) {
    network.clear();
    const Config config = sized(wire::Mode::omx, 9000, extension);
    open(config, config);
    for (const std::size_t length : {100'000, 16, 20'000}) {
      exchange(*a, to_b, *b, length);
      network.run_for(2 * kSecond);
    }
    for (Host* host : {a, b}) {
      EXPECT_EQ(host->counters[Counter::resend_timeout], 0U);
      EXPECT_EQ(host->counters[Counter::duplicate], 0U);
    }
  }
}

TEST_F(PullTest, sizes__every_mtu_in_mxoe_mode) {
  // 2048-byte units times 32 frames do not fit the 16-bit block length.
  for (const std::uint32_t mtu : {512U, 1500U, 2100U, 3000U, 4148U, 9000U}) {
    for (const bool extension : {true, false}) {
      for (const bool checksum : {true, false}) {
        network.clear();
        const Config config = sized(wire::Mode::mxoe, mtu, extension, checksum);
        open(config, config);
        exchange(*a, to_b, *b, 200000);
        exchange(*a, to_b, *b, 30000);
      }
    }
  }
}

TEST_F(PullTest, sizes__mxoe_lengths_of_medium_messages_are_16_bit) {
  Config config = sized(wire::Mode::mxoe, 3000, true);
  config.rndv_threshold = 1 << 20;
  open(config, config);
  EXPECT_EQ((*a)->eager_max(to_b), 32768U);
  exchange(*a, to_b, *b, 65536);
}

TEST_F(PullTest, sizes__largest_mtu_there_is) {
  for (const std::uint32_t mtu : {65535U, 65536U}) {  // the interface lo has 65536
    for (const bool extension : {true, false}) {
      network.clear();
      const Config config = sized(wire::Mode::omx, mtu, extension, true);
      open(config, config);
      network.run_for(kSecond);
      exchange(*a, to_b, *b, 2000000);
      exchange(*a, to_b, *b, 30000);
    }
  }
}

TEST_F(PullTest, frames__that_grow_do_not_begin_a_transfer_again) {
  network.faults.drop = drop_all(wire::PacketType::probe);
  open(sized(wire::Mode::omx, 9000, true), sized(wire::Mode::omx, 9000, true));
  network.faults.drop = nullptr;
  Bytes& out = message(2'000'000);
  Bytes& in = room(2'000'000);
  Request* r = receive(*b, in, 1);
  Request* s = send(*a, to_b, out, 1);
  ASSERT_TRUE(network.run_until([&] { return r->rx.pull && r->rx.pull->next_frame > 600; }, kSecond));
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  to_a->agreed.frame_in = 9014;  // as if a probe arrived now
  peer_update_sizes((*b)->state(), *to_a);
  network.run_for(10 * kMillisecond);
  const auto frames = r->rx.pull->next_frame;
  network.faults.drop = nullptr;
  network.run_for(kMillisecond);
  EXPECT_GE(r->rx.pull ? r->rx.pull->next_frame : frames, frames);
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
  EXPECT_EQ(in, out);
  EXPECT_LT(a->counters[Counter::send_pull_reply], 2'000'000U / 1480 * 3 / 2);
}

TEST_F(PullTest, window__every_number_of_blocks) {
  for (std::uint32_t blocks = 0; blocks <= 9; blocks++) {
    Config config;
    config.pull_blocks = blocks;
    config.pull_window_bytes = blocks % 2 ? 2U << 20 : 1;
    network.clear();
    open(config, config);
    network.faults.loss = 0.05;
    exchange(*a, to_b, *b, 700000);
    network.faults.loss = 0;
  }
}

TEST_F(PullTest, window__a_reference_peer_is_asked_for_whole_blocks) {
  Config config = sized(wire::Mode::mxoe, 9000, false);
  config.pull_window_bytes = 32 * 1024;
  open(config, config);
  exchange(*a, to_b, *b, 131072);
  EXPECT_EQ(b->counters[Counter::send_pull_request], 131072U / 4096 / to_a->agreed.sizes.pull_frames);
}

TEST_F(PullTest, segments__256_odd_pieces_on_both_sides) {
  open();
  network.faults.loss = 0.02;
  Random random(3);
  for (int round = 0; round < 6; round++) {
    const bool eager = round % 2;
    std::vector<Segment> from, to;
    std::uint32_t total = 0;
    for (int i = 0; i < 256; i++) {
      const auto n = static_cast<std::uint32_t>(i % 5 == 2 ? 0 : random.below(eager ? 200 : 4000));
      Bytes& piece = message(n, i);
      from.push_back({n ? piece.data() : nullptr, n});
      total += n;
    }
    std::uint32_t left = total;
    for (int i = 0; i < 256; i++) {
      const std::uint32_t n =
          i == 255 ? left
                   : std::min<std::uint32_t>(left, static_cast<std::uint32_t>(random.below(2 * total / 256)));
      to.push_back({n ? room(n).data() : nullptr, n});
      left -= n;
    }
    SendOp op;
    op.peer = to_b;
    op.segments = from;
    op.match_info = 1;
    ReceiveOp rop;
    rop.segments = to;
    rop.match_info = 1;
    Request* s = (*a)->send(network.now, op).value();
    if (round >= 4) network.run_for(100 * kMillisecond);  // unexpected
    Request* r = (*b)->receive(network.now, rop).value();
    EXPECT_EQ(wait(*b, r).status, Status::success);
    EXPECT_EQ(wait(*a, s).status, Status::success);
    Bytes out, in;
    for (const Segment& x : from) out.insert(out.end(), x.base, x.base + x.length);
    for (const Segment& x : to) in.insert(in.end(), x.base, x.base + x.length);
    EXPECT_EQ(in, out);
  }
}

TEST_F(PullTest, zero_length__synchronous_and_without_segments) {
  open();
  SendOp op;
  op.peer = to_b;
  for (const bool synchronous : {false, true}) {
    op.synchronous = synchronous;
    Request* s = (*a)->send(network.now, op).value();
    Request* r = (*b)->receive(network.now, {}).value();
    EXPECT_EQ(wait(*b, r).status, Status::success);
    const Completion c = wait(*a, s);
    EXPECT_EQ(c.status, Status::success);
    EXPECT_EQ(c.xfer_length, 0U);
  }
}

// Each further socket of an endpoint costs time for every frame. A small synchronous message is pulled, too.
TEST_F(PullTest, bulk__only_seen_with_large_messages) {
  open();
  Bytes& in = room(200000);
  Request* r = receive(*b, in, 1);
  send(*a, to_b, message(100), 1, true);
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_FALSE((*b)->bulk_seen());
  r = receive(*b, in, 2);
  send(*a, to_b, message(200000), 2);
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_TRUE((*b)->bulk_seen());
  EXPECT_FALSE((*a)->bulk_seen());
}

TEST_F(PullTest, truncated__to_nothing) {
  open();
  for (const std::size_t length : {10, 5000, 100000}) {
    Request* s = send(*a, to_b, message(length), 0);
    Request* r = (*b)->receive(network.now, {}).value();
    const Completion c = wait(*b, r);
    EXPECT_EQ(c.status, Status::truncated);
    EXPECT_EQ(c.msg_length, length);
    EXPECT_EQ(c.xfer_length, 0U);
    EXPECT_EQ(wait(*a, s).status, length == 100000 ? Status::truncated : Status::success);
  }
}

// The messages that a program sends before it receives must not hold back those that it needs to continue.
TEST_F(PullTest, regions__many_large_sends_hold_nothing_back) {
  open();
  Host& c = network.add({});
  Peer* to_c = connect(network, *a, c);
  constexpr int kMany = 3000;
  std::vector<Request*> sends, receives;
  Bytes& out = message(40000);
  for (int i = 0; i < kMany; i++) sends.push_back(send(*a, to_b, out, static_cast<std::uint64_t>(i)));
  Request* small = send(*a, to_b, message(4), kMany);
  Request* large_elsewhere = send(*a, to_c, out, kMany);
  (void)receive(*b, room(4), kMany);
  (void)receive(c, room(40000), kMany);
  EXPECT_EQ(wait(*a, small, kSecond).status, Status::success);
  EXPECT_EQ(wait(*a, large_elsewhere, kSecond).status, Status::success);
  EXPECT_EQ((*a)->state().regions.used(), static_cast<unsigned>(kMany));
  for (int i = kMany - 1; i >= 0; i -= 2)
    receives.push_back(receive(*b, room(40000), static_cast<std::uint64_t>(i)));
  for (int i = 0; i < kMany; i += 2)
    receives.push_back(receive(*b, room(40000), static_cast<std::uint64_t>(i)));
  for (Request* s : sends) ASSERT_EQ(wait(*a, s, 60 * kSecond).status, Status::success);
  for (Request* r : receives) ASSERT_EQ(wait(*b, r, kSecond).status, Status::success);
  EXPECT_EQ((*a)->state().regions.used(), 0U);
}

TEST_F(PullTest, regions__more_large_sends_than_there_are) {
  Config few;
  few.regions_most = 256;
  few.parks = false;
  a = &network.add(few);
  b = &network.add({});
  to_b = connect(network, *a, *b);
  Host& c = network.add({});
  Peer* to_c = connect(network, *a, c);
  std::vector<Request*> sends;
  Bytes& out = message(40000);
  for (int i = 0; i < 700; i++)
    sends.push_back(send(*a, i % 2 ? to_b : to_c, out, static_cast<std::uint64_t>(i)));
  network.run_for(100 * kMillisecond);
  EXPECT_EQ((*a)->state().regions.used(), 256U);
  Bytes& in = room(40000);
  std::vector<Request*> receives;
  for (int i = 699; i >= 0; i--)
    receives.push_back(receive(i % 2 ? *b : c, in, static_cast<std::uint64_t>(i)));
  for (Request* s : sends) ASSERT_EQ(wait(*a, s, 60 * kSecond).status, Status::success);
  EXPECT_EQ((*a)->state().regions.used(), 0U);
  EXPECT_TRUE((*a)->state().region_waiters.empty());
}

// A freed region must go to a peer that can use it, even if another one waited longer and cannot.
TEST_F(PullTest, regions__wake_up_is_not_lost_to_a_peer_without_credit) {
  Config one;
  one.eager_frames = 1;
  Config few;
  few.regions_most = 256;
  few.parks = false;
  a = &network.add(few);
  b = &network.add(one);
  to_b = connect(network, *a, *b);
  Host& c = network.add({});
  Host& d = network.add({});
  Peer* to_c = connect(network, *a, c);
  Peer* to_d = connect(network, *a, d);
  // All regions but one hold messages that are unmatched at d.
  for (int i = 0; i < 256; i++) (void)send(*a, to_d, message(100, 1), static_cast<std::uint64_t>(i), true);
  network.run_for(100 * kMillisecond);
  Bytes& big = message(100000);
  Request* at_b = send(*a, to_b, big, 1);  // waits for a region
  Request* at_c = send(*a, to_c, big, 2);  // waits behind it
  // b loses its credit while it waits: a NOTIFY for a message that it sent goes ahead of the queue.
  Peer* b_to_a = (*b)->find_peer((*a)->config().nic, 0);
  (void)receive(*a, room(10), 50);
  (void)send(*b, b_to_a, message(10), 50, true);
  network.faults.drop = [this](const Bytes& f) {
    return type_of(f) == wire::PacketType::truc && mac_load(f.data() + 6) == (*b)->config().nic;
  };
  ASSERT_TRUE(network.run_until([&] { return to_b->tx.frames_unacked > 0; }, kSecond));
  // One region becomes free, and only one.
  (void)receive(d, room(100), 0);
  (void)receive(c, room(100000), 2);
  EXPECT_EQ(wait(*a, at_c, 5 * kSecond).status, Status::success);
  network.faults.drop = nullptr;
  (void)receive(*b, room(100000), 1);
  EXPECT_EQ(wait(*a, at_b, 5 * kSecond).status, Status::success);
}

TEST_F(PullTest, slots__more_pulls_than_handles) {
  open();
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  // Five senders with 256 regions each.
  std::vector<Host*> senders;
  Bytes& out = message(40000);
  Bytes& in = room(40000);
  std::vector<Request*> receives;
  for (int h = 0; h < 5; h++) {
    Host& c = network.add({});
    Peer* p = connect(network, c, *b);
    for (int i = 0; i < 256; i++) {
      receives.push_back(receive(*b, in, 3));
      (void)send(c, p, out, 3);
    }
    senders.push_back(&c);
  }
  ASSERT_TRUE(network.run_until([&] { return (*b)->state().memory.pulls.live() == 1280; }, kSecond));
  EXPECT_FALSE((*b)->state().transfers.pull_waiting.empty());
  // A time limit on a receive that waits for a handle must not disturb those that have one.
  for (Request* r : receives) (*b)->set_timeout(r, 20 * kSecond);
  network.run_for(kSecond);
  network.faults.drop = nullptr;
  for (Request* r : receives) ASSERT_EQ(wait(*b, r, 60 * kSecond).status, Status::success);
  EXPECT_EQ(in, out);
  EXPECT_EQ((*b)->state().memory.pulls.live(), 0U);
}

TEST_F(PullTest, slots__of_a_lost_peer_go_to_those_who_wait) {
  open();
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  std::vector<Request*> receives;
  std::vector<Peer*> peers;
  Bytes& out = message(40000);
  Bytes& in = room(40000);
  for (int h = 0; h < 5; h++) {
    Host& c = network.add({});
    Peer* p = connect(network, c, *b);
    peers.push_back((*b)->find_peer(c->config().nic, 0));
    for (int i = 0; i < 256; i++) {
      receives.push_back(receive(*b, in, 3));
      (void)send(c, p, out, 3);
    }
  }
  ASSERT_TRUE(network.run_until([&] { return (*b)->state().memory.pulls.live() == 1280; }, kSecond));
  network.faults.drop = nullptr;
  const std::uint32_t before = peers[4]->rx.pulls->running;
  EXPECT_LT(before, 256U);
  (*b)->disconnect(network.now, peers[0]);
  EXPECT_GT(peers[4]->rx.pulls->running, before);
  ASSERT_TRUE(network.run_until(
      [&] {
        for (Request* r : receives)
          if (!(*b)->done(r)) return false;
        return true;
      },
      60 * kSecond));
  int failed = 0;
  for (Request* r : receives) failed += (*b)->consume(r).status != Status::success;
  EXPECT_EQ(failed, 256);
}

TEST_F(PullTest, timeout__no_reply_from_a_peer_that_talks_otherwise) {
  Config config;
  config.reliability.peer_timeout = 3 * kSecond;
  open(config, config);
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  Request* r = receive(*b, room(100000), 1);
  Request* s = send(*a, to_b, message(100000), 1);
  for (int i = 0; i < 200; i++) {
    (void)send(*a, to_b, message(4), 2);
    network.run_for(100 * kMillisecond);
  }
  ASSERT_TRUE((*b)->done(r));
  EXPECT_EQ((*b)->consume(r).status, Status::endpoint_unreachable);
  // A message behind the lost one would be a hole, so the conversation is over on both sides.
  EXPECT_EQ(wait(*a, s).status, Status::endpoint_unreachable);
  EXPECT_FALSE(to_b->connected());
}

TEST_F(PullTest, region_offset__of_other_implementations_is_carried_into_the_pull) {
  // Native MX may send the offset in the page. Then the first frame is shorter by that offset.
  for (const auto mode : {wire::Mode::omx, wire::Mode::mxoe}) {
    network.clear();
    const Config config = sized(mode, 9000, false);
    open(config, config);
    wire::Rndv rndv;
    rndv.session = (*a)->config().session;
    rndv.seqnum = to_a->counting.next_send;
    rndv.piggyack = to_a->counting.next_match;
    rndv.msg_length = 100000;
    rndv.rdma_offset = 1234;
    Bytes seen;
    network.faults.drop = [&](const Bytes& f) {
      if (type_of(f) == wire::PacketType::pull && seen.empty()) seen = f;
      return type_of(f) == wire::PacketType::pull;
    };
    Request* r = receive(*a, room(100000), 0, 0);
    network.inject(
        hand_made((*b)->config().nic, (*a)->config().nic, wire::PacketType::rndv,
                  [&](std::byte* out, const wire::Head& head) { return encode_rndv(out, head, rndv); }));
    ASSERT_TRUE(network.run_until([&] { return !seen.empty(); }, kSecond));
    wire::Pull pull;
    ASSERT_EQ(wire::decode_pull(seen, mode, false, pull), wire::Drop::none);
    EXPECT_EQ(pull.rdma_offset, 1234U);
    EXPECT_EQ(pull.first_frame_offset, 1234U);
    EXPECT_EQ(pull.block_length + 1234, std::min(r->rx.pull->unit * r->rx.pull->block(0).frames, 101234U));
    network.faults.drop = nullptr;
  }
}

// The length of a message may be anything below 4 GiB. This test moves only one megabyte.
TEST_F(PullTest, length__almost_four_gibibytes_truncated) {
  open();
  constexpr std::size_t kHuge = 0xFFFFFFFFULL;
  void* memory = mmap(nullptr, kHuge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* base = static_cast<std::byte*>(memory);
  Segment parts[2] = {{base, 0x80000000U}, {base + 0x80000000U, 0x7FFFFFFFU}};
  SendOp op;
  op.peer = to_b;
  op.segments = parts;
  Bytes& in = room(1 << 20);
  Request* s = (*a)->send(network.now, op).value();
  Request* r = receive(*b, in, 0);
  const Completion c = wait(*b, r);
  EXPECT_EQ(c.status, Status::truncated);
  EXPECT_EQ(c.msg_length, 0xFFFFFFFFU);
  EXPECT_EQ(c.xfer_length, 1U << 20);
  EXPECT_EQ(in, Bytes(1 << 20));
  EXPECT_EQ(wait(*a, s).status, Status::truncated);
  // 32 bits cannot express one byte more.
  parts[1].length++;
  EXPECT_EQ((*a)->send(network.now, op).error(), OpError::bad_request);
  // Messages to the endpoint itself may have the same lengths.
  parts[1].length--;
  op.peer = (*a)->self();
  s = (*a)->send(network.now, op).value();
  r = receive(*a, in, 0);
  EXPECT_EQ(wait(*a, r).xfer_length, 1U << 20);
  EXPECT_EQ(wait(*a, s).status, Status::truncated);
  // The geometry of the last block.
  op.peer = to_b;
  s = (*a)->send(network.now, op).value();
  network.run_for(10 * kMillisecond);
  wire::Pull p;
  p.session = (*a)->config().session;
  p.rdma_id = s->region;
  p.rdma_seqnum = s->region_generation;
  p.reply_max = 1024;
  p.frame_index = 0xFFFFFFFF / 1024;
  p.block_length = 1023;
  network.inject(hand_made_pull(*b, *a, p));
  const auto before = a->counters[Counter::send_pull_reply];
  network.run_for(kMillisecond);
  EXPECT_EQ(a->counters[Counter::send_pull_reply], before + 1);
  munmap(memory, kHuge);
  network.clear();
}

// A message that exceeds one frame by a few bytes takes one frame: these bytes come with the RNDV.
TEST_F(PullTest, tail__comes_with_the_notice) {
  Config config;
  config.mtu = 65535;
  open(config, config);
  Bytes& in = room(65536);
  Request* r = receive(*b, in, 5);
  Request* sent = send(*a, to_b, message(65536, 7), 5);
  EXPECT_EQ(wait(*b, r).xfer_length, 65536U);
  EXPECT_EQ(in, pattern(7, 65536));
  const Completion c = wait(*a, sent);
  EXPECT_EQ(c.status, Status::success);
  EXPECT_EQ(c.xfer_length, 65536U);
  EXPECT_EQ(b->counters[Counter::recv_pull_reply], 1U);
}

TEST_F(PullTest, tail__is_left_where_nobody_waits_or_too_little_is_wanted) {
  Config config;
  config.mtu = 65535;
  open(config, config);
  send(*a, to_b, message(65536, 7), 5);
  network.run_for(kMillisecond);
  Bytes& late = room(65536);
  EXPECT_EQ(wait(*b, receive(*b, late, 5)).status, Status::success);
  EXPECT_EQ(late, pattern(7, 65536));
  Bytes& small = room(65530);
  Request* r = receive(*b, small, 6);
  send(*a, to_b, message(65536, 8), 6);
  const Completion c = wait(*b, r);
  EXPECT_EQ(c.status, Status::truncated);
  EXPECT_EQ(c.xfer_length, 65530U);
  const Bytes whole = pattern(8, 65536);
  EXPECT_EQ(small, Bytes(whole.begin(), whole.begin() + 65530));
}

}  // namespace
}  // namespace omx::protocol::test
