// SPDX-License-Identifier: BSD-3-Clause
// Bulk paths are used when both ends have one in the same network and a probe came through. They are left
// alone when no frames come by them.
#include "tests/protocol/bulk_fixture.h"

namespace omx::protocol::test {
namespace {

TEST_F(BulkTest, large__goes_by_the_bulk_path_after_the_first) {
  open_bulk_paths();
  EXPECT_EQ(a->bulk_frames, 0U) << "nothing needs it yet";
  make_known();
  const auto before = a->counters[Counter::send_pull_reply_bulk];
  exchange(*a, to_b, *b, 1000000);
  EXPECT_EQ(a->bulk_to, b->endpoint->config().bulk.address);
  const auto unit = 1500U - 28 - 32;
  EXPECT_EQ(a->counters[Counter::send_pull_reply_bulk] - before, (1000000 + unit - 1) / unit);
  EXPECT_EQ(b->bulk_frames, 0U) << "its own direction was not tried";
}

// Large messages, and medium ones of several fragments, are counted once on each side.
TEST_F(BulkTest, counted__messages_by_the_bulk_path) {
  open_bulk_paths();
  make_known();
  const auto sent = a->counters, received = b->counters;
  exchange(*a, to_b, *b, 1000000);
  exchange(*a, to_b, *b, 20000);
  exchange(*a, to_b, *b, 100);
  EXPECT_EQ(a->counters[Counter::messages_sent] - sent[Counter::messages_sent], 3U);
  EXPECT_EQ(a->counters[Counter::messages_sent_bulk] - sent[Counter::messages_sent_bulk], 2U);
  EXPECT_EQ(a->counters[Counter::bytes_sent_bulk] - sent[Counter::bytes_sent_bulk], 1020000U);
  EXPECT_EQ(b->counters[Counter::messages_received_bulk] - received[Counter::messages_received_bulk], 2U);
  EXPECT_EQ(b->counters[Counter::bytes_received_bulk] - received[Counter::bytes_received_bulk], 1020000U);
  EXPECT_EQ(a->counters[Counter::messages_sent_local] + b->counters[Counter::messages_received_local], 0U);
}

TEST_F(BulkTest, large__a_request_asks_for_a_whole_batch) {
  open_bulk_paths();
  make_known();
  const auto before = b->counters[Counter::send_pull_request];
  exchange(*a, to_b, *b, 4000000);
  const auto requests = b->counters[Counter::send_pull_request] - before;
  EXPECT_LE(requests, 4000000U / (44 * 1440) + 8) << "44 frames of 1472 bytes fill a datagram";
}

TEST_F(BulkTest, medium__by_the_bulk_path_and_announced) {
  open_bulk_paths();
  exchange(*a, to_b, *b, 20000);  // proves the bulk path, too
  network.run_for(kMillisecond);
  ASSERT_TRUE(to_b->bulk.out);
  const auto fragments = a->counters[Counter::send_medium_frag];
  const auto bulk = a->bulk_frames;
  const auto probes = a->counters[Counter::send_probe];
  const auto announced = a->counters[Counter::send_announcement];
  const auto heard = b->counters[Counter::recv_announcement];
  exchange(*a, to_b, *b, 20000);
  EXPECT_EQ(a->bulk_frames - bulk, a->counters[Counter::send_medium_frag] - fragments);
  EXPECT_EQ(a->counters[Counter::send_announcement], announced + 1);
  EXPECT_EQ(b->counters[Counter::recv_announcement], heard + 1);
  EXPECT_EQ(a->counters[Counter::send_probe], probes) << "an announcement proves no size";
  EXPECT_FALSE((*b)->bulk_awaited(network.now)) << "it is whole";
  const auto before = a->bulk_frames;
  exchange(*a, to_b, *b, 2500);
  EXPECT_EQ(a->bulk_frames, before) << "two fragments gain nothing";
}

// A batch may come in parts, and other frames between them.
TEST_F(BulkTest, medium__awaited_until_all_parts_came) {
  open_bulk_paths();
  make_known();
  network.run_for(kMillisecond);
  network.faults.hold_bulk = true;
  Bytes& in = room(20000);
  Request* r = receive(*b, in, 5);
  send(*a, to_b, message(20000), 5);
  network.run_for(50'000);
  EXPECT_TRUE((*b)->bulk_awaited(network.now)) << "it was announced";
  const auto held = network.held;
  ASSERT_GT(held.size(), 3U);
  for (const Bytes& frame : held) {
    EXPECT_TRUE((*b)->bulk_awaited(network.now));
    network.inject(frame);
    network.run_for(6'000);
    (*b)->bulk_came();
  }
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_FALSE((*b)->bulk_awaited(network.now));
}

// A small remainder goes with the announcement, not in a GSO batch of its own.
TEST_F(BulkTest, medium__one_batch_and_an_announcement) {
  open_bulk_paths();
  exchange(*a, to_b, *b, 20000);
  network.run_for(kMillisecond);
  ASSERT_TRUE(to_b->bulk.out);
  const std::size_t unit = to_b->agreed.sizes.medium_frag;
  const std::size_t batch = wire::gso_batch_frames(1500 - 28);
  const auto bulk = a->bulk_frames;
  const auto fragments = a->counters[Counter::send_medium_frag];
  exchange(*a, to_b, *b, batch * unit);
  EXPECT_EQ(a->bulk_frames - bulk, batch);
  EXPECT_EQ(a->counters[Counter::send_medium_frag] - fragments, batch + 1);

  lose_and_send_again(batch * unit + 100);
}

TEST(GsoBatchUnit, leaves_a_short_fragment_that_fits) {
  constexpr std::uint32_t kOverhead = 48;
  for (const std::uint32_t most : {1408U, 4000U, 8904U, 20000U, 32000U}) {
    std::uint32_t shorter = 0, lengths = 0;
    for (std::uint32_t length = 2 * most + 1; length <= 64 * 1024; length += 97) {
      const std::uint32_t unit = wire::gso_batch_unit(length, most, kOverhead);
      const std::uint32_t frames = (length - 1) / unit, last = length - frames * unit;
      ASSERT_GT(unit, 0U);
      ASSERT_LE(unit, most);
      ASSERT_LE(frames, (length - 1 + most - 1) / most) << "not more than are needed";
      lengths++;
      if (last <= 512) shorter++;
    }
    EXPECT_GT(shorter * 2, lengths) << most;
  }
  // The longest messages, with many fragment sizes: a fragment is never empty and never too large.
  for (const std::uint32_t most : {1U, 64U, 1408U, 32000U, 65535U}) {
    for (const std::uint32_t length : {1U, 2U, most + 1, 0xFFFFFFFEU, 0xFFFFFFFFU}) {
      const std::uint32_t long_unit = wire::gso_batch_unit(length, most, kOverhead);
      ASSERT_GT(long_unit, 0U) << length;
      ASSERT_LE(long_unit, most) << length;
    }
  }
  // A full GSO batch, and the rest.
  const std::uint32_t unit = wire::gso_batch_unit(65536, 8904, kOverhead);
  EXPECT_LE(8 * (unit + kOverhead), wire::kGsoBatchBytes);
  EXPECT_LE(65536 - 8 * unit, 512U);
}

TEST_F(BulkTest, medium__awaited_until_the_announced_one_is_whole) {
  open_bulk_paths();
  exchange(*a, to_b, *b, 20000);
  network.run_for(kMillisecond);
  ASSERT_TRUE(to_b->bulk.out);
  const std::size_t length = wire::gso_batch_frames(1500 - 28) * to_b->agreed.sizes.medium_frag;
  exchange(*a, to_b, *b, length);
  EXPECT_FALSE((*b)->bulk_awaited(network.now));
  exchange(*a, to_b, *b, length);
  exchange(*a, to_b, *b, 10);
  EXPECT_FALSE((*b)->bulk_awaited(network.now));
}

TEST_F(BulkTest, medium__up_to_more_than_without) {
  open_bulk_paths();
  const auto rendezvous = [&](std::size_t length) {
    const auto before = a->counters[Counter::send_rndv];
    exchange(*a, to_b, *b, length);
    return a->counters[Counter::send_rndv] - before;
  };
  EXPECT_EQ(rendezvous(40000), 1U);
  network.run_for(kMillisecond);
  EXPECT_EQ(rendezvous(40000), 0U);
  EXPECT_EQ(rendezvous(65536), 0U);
  EXPECT_EQ(rendezvous(65537), 1U);
}

TEST_F(BulkTest, medium__the_receiver_looks_for_a_while) {
  open_bulk_paths();
  exchange(*a, to_b, *b, 20000);
  network.run_for(10 * kMillisecond);
  EXPECT_FALSE((*b)->bulk_awaited(network.now));
  lose_and_send_again(20000);
  network.run_for(10 * kMillisecond);
  EXPECT_FALSE((*b)->bulk_awaited(network.now));
}

TEST_F(BulkTest, fails__before_it_was_ever_used) {
  network.faults.no_bulk = true;
  open_bulk_paths();
  for (const std::size_t length : {20000, 50000, 1000000}) {
    exchange(*a, to_b, *b, length);
    exchange(*b, to_a, *a, length);
  }
  EXPECT_FALSE(to_b->bulk.out || to_b->bulk.in || to_a->bulk.out || to_a->bulk.in);
  EXPECT_EQ(a->counters[Counter::resend_timeout] + b->counters[Counter::resend_timeout], 0U);
  EXPECT_EQ(b->counters[Counter::pull_rerequest_timer], 0U) << "no timer asked for it";
  EXPECT_LT(a->bulk_frames, 8U);
}

TEST_F(BulkTest, fails__later_and_is_not_tried_again_at_once) {
  open_bulk_paths();
  make_known();
  network.faults.no_bulk = true;
  const TimeNs began = network.now;
  exchange(*a, to_b, *b, 1000000);
  EXPECT_LT(network.now - began, kSecond);
  EXPECT_FALSE(to_a->bulk.in && to_b->bulk.out);
  EXPECT_EQ(a->counters[Counter::bulk_fallback] + b->counters[Counter::bulk_fallback], 1U);
  const auto frames = a->bulk_frames;
  const TimeNs again = network.now;
  exchange(*a, to_b, *b, 1000000);
  EXPECT_LT(network.now - again, 200 * kMillisecond) << "by the link";
  EXPECT_LE(a->bulk_frames - frames, 2U);
  // The bulk path works again, and is trusted after a while.
  network.faults.no_bulk = false;
  network.run_for(3 * kSecond);
  exchange(*a, to_b, *b, 100000);
  exchange(*a, to_b, *b, 100000);
  EXPECT_TRUE(to_a->bulk.in && to_b->bulk.out);
}

// Answers by frames say nothing about the bulk path. So its losses count although many large messages go by
// the link.
TEST_F(BulkTest, fails__medium_messages_among_large_ones_by_the_link) {
  open_bulk_paths();
  exchange(*a, to_b, *b, 20000);
  network.run_for(kMillisecond);
  ASSERT_TRUE(to_b->bulk.out);
  network.faults.no_bulk = true;
  for (int i = 0; i < 20; i++) {
    exchange(*a, to_b, *b, 20000);
    to_a->bulk.in = false;  // as if frames were faster
    exchange(*a, to_b, *b, 1000000);
  }
  EXPECT_FALSE(to_b->bulk.out);
}

TEST_F(BulkTest, fails__medium_messages_return_to_the_link) {
  open_bulk_paths();
  exchange(*a, to_b, *b, 20000);
  network.run_for(kMillisecond);
  ASSERT_TRUE(to_b->bulk.out);
  network.faults.no_bulk = true;
  for (int i = 0; i < 6; i++) exchange(*a, to_b, *b, 20000);
  EXPECT_FALSE(to_b->bulk.out);
  EXPECT_EQ(a->counters[Counter::bulk_fallback], 1U);
}

TEST_F(BulkTest, other_network__is_not_used) {
  Config far = with_bulk(2);
  far.bulk.address.ip[14] = 1;
  open(with_bulk(1), far);
  exchange(*a, to_b, *b, 100000);
  exchange(*a, to_b, *b, 100000);
  EXPECT_FALSE(to_b->bulk.address.present() || to_a->bulk.address.present());
  EXPECT_EQ(a->bulk_frames, 0U);
}

TEST_F(BulkTest, one_frame_a_datagram__is_not_used) {
  open(with_bulk(1, 60000), with_bulk(2, 60000));
  exchange(*a, to_b, *b, 1000000);
  exchange(*a, to_b, *b, 1000000);
  EXPECT_EQ(a->bulk_frames, 0U);
}

TEST_F(BulkTest, one_side_only__is_not_used) {
  open(with_bulk(1), Config{});
  exchange(*a, to_b, *b, 100000);
  exchange(*a, to_b, *b, 100000);
  EXPECT_EQ(a->bulk_frames + b->bulk_frames, 0U);
}

TEST_F(BulkTest, restart__the_new_instance_has_another_bulk) {
  open_bulk_paths();
  make_known();
  Config next = with_bulk(2);
  next.bulk.address.port = 5000;
  next.session = 77;
  b = &network.restart(1, next);
  to_b = connect(network, *a, *b);
  to_a = connect(network, *b, *a);
  exchange(*a, to_b, *b, 100000);
  exchange(*a, to_b, *b, 100000);
  EXPECT_EQ(a->bulk_to, next.bulk.address);
}

TEST_F(BulkTest, sleeper__is_woken_by_the_link) {
  open_bulk_paths();
  make_known();
  (*b)->set_sleeping(network.now, true);
  const auto announced = a->counters[Counter::send_announcement];
  exchange(*a, to_b, *b, 1000000);
  const auto rung = a->counters[Counter::send_announcement] - announced;
  EXPECT_GT(rung, 0U);
  EXPECT_LT(rung, 1000000U / (44 * 1440)) << "not for every block";
}

TEST_F(BulkTest, owner__only_peers_have_one) {
  open_bulk_paths();
  EXPECT_EQ((*b)->bulk_sender(a->endpoint->config().bulk.address).nic, a->endpoint->config().nic);
  EXPECT_EQ((*a)->bulk_sender(b->endpoint->config().bulk.address).nic, b->endpoint->config().nic);
  EXPECT_EQ((*b)->bulk_sender(b->endpoint->config().bulk.address).nic, 0U);
  wire::BulkAddress other = a->endpoint->config().bulk.address;
  other.port++;
  EXPECT_EQ((*b)->bulk_sender(other).nic, 0U);
  (*b)->disconnect(network.now, to_a);
  EXPECT_EQ((*b)->bulk_sender(a->endpoint->config().bulk.address).nic, 0U);
}

TEST_F(BulkTest, owner__a_second_one_gets_no_bulk) {
  open_bulk_paths();
  Host& liar = network.add(with_bulk(1));
  Peer* p = connect(network, liar, *b);
  exchange(liar, p, *b, 100000);
  exchange(liar, p, *b, 100000);
  EXPECT_EQ((*b)->bulk_sender(a->endpoint->config().bulk.address).nic, a->endpoint->config().nic);
  EXPECT_EQ(liar.counters[Counter::send_pull_reply_bulk], 0U);
  EXPECT_TRUE(to_a->bulk.address.present());
}

// The sender may have no more unacknowledged frames than this side announced.
TEST_F(BulkTest, acks__keep_up_with_the_frames) {
  open_bulk_paths();
  make_known();
  network.run_for(10 * kMillisecond);
  const TimeNs began = network.now;
  std::vector<Request*> receives, sends;
  for (int i = 0; i < 100; i++) receives.push_back(receive(*b, room(20000), 1));
  for (int i = 0; i < 100; i++) sends.push_back(send(*a, to_b, message(20000), 1));
  for (Request* r : receives) wait(*b, r);
  EXPECT_LT(network.now - began, kMillisecond) << "a delayed acknowledgement takes that long";
  for (Request* r : sends) wait(*a, r);
}

// A liar announces another host's bulk path under its own MAC address. That host must not get frames for the
// liar.
TEST_F(BulkTest, proof__nobody_else_can_give_it) {
  a = &network.add(with_bulk(1));
  Host& victim = network.add(with_bulk(2));
  Host& liar = network.add(with_bulk(2));
  ASSERT_TRUE(connect(network, liar, *a));
  Peer* to_liar = connect(network, *a, liar);
  Peer* to_victim = connect(network, *a, victim);
  EXPECT_TRUE(to_liar->bulk.address.present());
  EXPECT_FALSE(to_victim->bulk.address.present());
  network.faults.no_bulk = true;
  Request* offered = send(*a, to_liar, message(20000), 5);  // brings a probe that the liar cannot read
  network.run_for(kMillisecond);
  for (std::uint32_t guess = 0; guess < 1000; guess++) {
    wire::Probe probe;
    probe.flags = wire::kFlagBulk;
    probe.is_reply = true;
    probe.session = a->endpoint->config().session;
    probe.size = 64;
    probe.cookie = guess;
    Bytes forged =
        hand_made(liar.endpoint->config().nic, a->endpoint->config().nic, wire::PacketType::probe,
                  [&](std::byte* out, const wire::Head& head) { return encode_probe(out, head, probe); });
    forged.resize(64);
    (*a)->on_frame(network.now, forged);
  }
  EXPECT_FALSE(to_liar->bulk.out);
  // A request does not help either.
  const auto before = a->bulk_frames;
  Bytes& in = room(100000);
  Request* r = receive(liar, in, 7);
  send(*a, to_liar, message(100000), 7);
  wait(liar, r);
  EXPECT_LE(a->bulk_frames - before, 1U) << "a probe at most";
  EXPECT_EQ(a->counters[Counter::send_pull_reply_bulk], 0U);
  (void)offered;
}

// A host's next endpoint may get the port of one that is gone, and may be known before that one is forgotten.
// But it may also be another user's endpoint that names a port which is not its own.
TEST_F(BulkTest, owner__a_connected_endpoint_keeps_its_port) {
  open_bulk_paths();
  const auto connect_as = [&](std::uint8_t endpoint, std::uint32_t session) {
    wire::Connect packet;
    packet.src_endpoint = endpoint;
    packet.src_session = session;
    packet.ext.present = true;
    packet.ext.features = wire::kFeatureProbe | wire::kFeatureBulk;
    packet.ext.bulk_address = a->endpoint->config().bulk.address;
    packet.ext.max_frame = 1514;
    packet.ext.pull_frames = 32;
    packet.ext.eager_frames = 256;
    packet.ext.generation = 5;
    packet.target_recv_seqnum_start = kSeqFirst;
    (*b)->on_frame(
        network.now,
        hand_made(a->endpoint->config().nic, b->endpoint->config().nic, wire::PacketType::connect,
                  [&](std::byte* out, const wire::Head& head) { return encode_connect(out, head, packet); }));
  };
  connect_as(7, 0x7777);
  Peer* later = (*b)->find_peer(a->endpoint->config().nic, 7);
  ASSERT_TRUE(later);
  EXPECT_FALSE(later->bulk.address.present());
  EXPECT_TRUE(to_a->bulk.address.present());
  EXPECT_EQ((*b)->bulk_sender(a->endpoint->config().bulk.address).endpoint, 0);
  EXPECT_TRUE(to_a->liveness.ping_pending) << "it may be gone";
  exchange(*a, to_b, *b, 100000);
  exchange(*a, to_b, *b, 100000);
  EXPECT_GT(a->counters[Counter::send_pull_reply_bulk], 0U);
  (*b)->disconnect(network.now, to_a);
  connect_as(7, 0x7777);
  EXPECT_TRUE(later->bulk.address.present());
  EXPECT_EQ((*b)->bulk_sender(a->endpoint->config().bulk.address).endpoint, 7);
}

TEST_F(BulkTest, fails__a_pull_does_not_make_the_sender_trust_again) {
  open_bulk_paths();
  make_known();
  network.faults.no_bulk = true;
  for (int i = 0; i < 8; i++) exchange(*a, to_b, *b, 20000);
  EXPECT_FALSE(to_b->bulk.out);
  network.faults.no_bulk = false;
  exchange(*a, to_b, *b, 1000000);
  EXPECT_FALSE(to_b->bulk.out);
}

TEST_F(BulkTest, fails__forgotten_with_the_conversation) {
  open_bulk_paths();
  make_known();
  const auto& distrusts = (*a)->state().memory.bulk_distrusts;
  EXPECT_EQ(distrusts.live(), 0U);
  for (int conversation = 0; conversation < 3; conversation++) {
    network.faults.no_bulk = true;
    for (int i = 0; i < 8; i++) exchange(*a, to_b, *b, 20000);
    EXPECT_EQ(distrusts.live(), 1U);
    network.faults.no_bulk = false;
    (*a)->disconnect(network.now, to_b);
    EXPECT_EQ(distrusts.live(), 0U);
    to_b = connect(network, *a, *b);
    make_known();
  }
}

// Losses in one direction say nothing about the other.
TEST_F(BulkTest, fails__one_direction_leaves_the_other) {
  open_bulk_paths();
  make_known();
  network.faults.no_bulk = true;
  for (int i = 0; i < 8; i++) exchange(*a, to_b, *b, 20000);
  ASSERT_FALSE(to_b->bulk.out);
  network.faults.no_bulk = false;
  exchange(*b, to_a, *a, 50000);
  EXPECT_TRUE(to_a->bulk.out);
  EXPECT_TRUE(to_b->bulk.in);
}

TEST_F(BulkTest, mtu__the_bulk_path_shrinks_with_it) {
  open(with_bulk(1, 9000), with_bulk(2, 9000));
  make_known();
  (*a)->set_mtu(network.now, 1500);
  (*b)->set_mtu(network.now, 1500);
  network.faults.path_mtu = 1500 - 28;
  for (const std::size_t length : {20000, 300000}) exchange(*a, to_b, *b, length);
}

// Hosts with a large MTU, and a path between them that is narrower than a base frame of Ethernet as a
// datagram.
TEST_F(BulkTest, base_frame__is_what_the_link_says) {
  Config config;
  config.mtu = 9000 - 28 - 14;
  config.base_frame = 1232;
  network.faults.path_mtu = 1472 - 14;
  open(config, config);
  for (const std::size_t length : {1400, 5000, 60000, 300000}) exchange(*a, to_b, *b, length);
}

TEST_F(BulkTest, losses__are_made_up_for) {
  open(with_bulk(1, 9000), with_bulk(2, 9000));
  make_known();
  network.faults.loss = 0.05;
  network.faults.reorder = 0.05;
  network.faults.duplicate = 0.02;
  for (int i = 0; i < 20; i++) {
    exchange(*a, to_b, *b, 300000);
    exchange(*a, to_b, *b, 30000);
  }
}

}  // namespace
}  // namespace omx::protocol::test
