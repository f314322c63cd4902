// SPDX-License-Identifier: BSD-3-Clause
// Frame sizes: proven, refused, lost during life, announced again; and agreement on checksums.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class ProbeTest : public PairTest {
 protected:
  static Config jumbo(std::uint32_t mtu = 9000) {
    Config config;
    config.mtu = mtu;
    return config;
  }
};

TEST_F(ProbeTest, probe__proves_the_agreed_size) {
  open(jumbo(), jumbo());
  network.run_for(100 * kMillisecond);
  EXPECT_EQ(peer_info(to_b).frame_max, 9014U);
  EXPECT_EQ(peer_info(to_a).frame_max, 9014U);
  EXPECT_FALSE(network.step());
}

TEST_F(ProbeTest, probe__smaller_side_decides) {
  open(jumbo(9000), jumbo(4000));
  network.run_for(100 * kMillisecond);
  EXPECT_EQ(peer_info(to_b).frame_max, 4014U);
  EXPECT_EQ(peer_info(to_a).frame_max, 4014U);
  exchange_both_ways();
}

// Frames by UDP, where even the smallest Ethernet frame size is not certain to pass.
TEST_F(ProbeTest, probe__ladder_below_the_frame_of_ethernet) {
  for (const auto& [path, proven] :
       {std::pair{1500U, 1472U}, {1460U, 1452U}, {1400U, 1400U}, {1300U, 1232U}}) {
    network.clear();
    network.faults.path_mtu = path - 14;
    Config config = jumbo(8958);
    config.base_frame = 1232;
    open(config, config);
    network.run_for(10 * kSecond);
    EXPECT_EQ(peer_info(to_b).frame_max, proven);
    exchange_both_ways();
  }
}

TEST_F(ProbeTest, probe__ladder_when_the_path_carries_less) {
  struct Case {
    std::uint32_t path, proven;
  };
  for (const Case& c : {Case{9000, 9014}, Case{5000, 4158}, Case{3000, 2048}, Case{1500, 1514}}) {
    network.clear();
    network.faults.path_mtu = c.path;
    open(jumbo(65535), jumbo(65535));
    exchange_both_ways();  // messages pass meanwhile
    network.run_for(10 * kSecond);
    EXPECT_EQ(peer_info(to_b).frame_max, c.proven) << c.path;
    exchange_both_ways();
  }
}

TEST_F(ProbeTest, probe__looks_again_when_the_path_is_mended) {
  network.faults.path_mtu = 1500;
  open(jumbo(), jumbo());
  network.run_for(20 * kSecond);
  EXPECT_EQ(peer_info(to_b).frame_max, 1514U);
  const auto probes = a->counters[Counter::send_probe];
  network.run_for(100 * kSecond);
  EXPECT_LT(a->counters[Counter::send_probe], probes + 60);
  network.faults.path_mtu = 0;
  network.run_for(60 * kSecond);
  EXPECT_EQ(peer_info(to_b).frame_max, 9014U);
}

TEST_F(ProbeTest, probe__many_peers_are_not_all_probed_at_connect) {
  a = &network.add(jumbo());
  std::vector<Peer*> peers;
  for (int i = 0; i < 40; i++) peers.push_back(connect(network, *a, network.add(jumbo())));
  const auto probes = a->counters[Counter::send_probe];
  EXPECT_LE(probes, 2U * 16) << "ours, and answers";
  EXPECT_EQ(peer_info(peers.back()).frame_max, 1514U);
  // The first large message brings the probe with it, early enough for its own frames.
  Host& last = *network.hosts.back();
  exchange(*a, peers.back(), last, 1000000);
  EXPECT_EQ(peer_info(peers.back()).frame_max, 9014U);
  EXPECT_LE(a->counters[Counter::send_pull_reply], 1000000U / 8900 + 1);
}

TEST_F(ProbeTest, probe__lost_ones_do_not_keep_frames_small_for_ever) {
  network.faults.drop = [](const Bytes& f) { return f.size() > 5000; };
  open(jumbo(), jumbo());
  network.run_for(5 * kSecond);
  EXPECT_EQ(peer_info(to_b).frame_max, 4158U);
  network.faults.drop = nullptr;
  network.run_for(40 * kSecond);
  EXPECT_EQ(peer_info(to_b).frame_max, 9014U);
}

// Found by fuzzing: a peer announced large frames and connects again without the extension before anything
// was agreed on.
TEST_F(ProbeTest, probe__ends_when_the_peer_has_no_extension_after_all) {
  a = &network.add(jumbo());
  const NicId peer = 0x02000000aaaa;
  wire::Connect connect;
  connect.src_session = 0x4711;
  connect.key_or_target_session = 0;
  connect.ext.mode = wire::Mode::omx;
  connect.ext.eager_frames = 8;
  connect.ext.pull_frames = 8;
  connect.target_recv_seqnum_start = kSeqFirst;
  for (const bool extension : {true, false}) {
    connect.ext.present = extension;
    connect.ext.features = wire::kFeatureProbe;
    connect.ext.max_frame = 9014;
    connect.ext.generation = 0;
    network.inject(hand_made(
        peer, (*a)->config().nic, wire::PacketType::connect,
        [&](std::byte* out, const wire::Head& head) { return encode_connect(out, head, connect); }));
    network.run_for(kMillisecond);
  }
  Peer* p = (*a)->find_peer(peer, 0);
  ASSERT_NE(p, nullptr);
  EXPECT_GT(a->counters[Counter::send_probe], 0U);
  EXPECT_EQ(p->liveness.probe_size, 0U);
  std::size_t longest = 0;
  network.faults.drop = [&](const Bytes& f) {
    longest = std::max(longest, f.size());
    return false;
  };
  (*a)->set_mtu(network.now, 1500);
  network.run_for(100 * kSecond);
  EXPECT_LE(longest, 1514U);
}

TEST_F(ProbeTest, fall_back__path_shrinks_during_life) {
  for (const std::size_t length : {20000, 1000000}) {
    for (const bool under_way : {false, true}) {
      network.clear();
      network.faults.path_mtu = 0;
      open(jumbo(), jumbo());
      network.run_for(kSecond);
      Bytes& out = message(length);
      Bytes& in = room(length);
      Request* r = receive(*b, in, 1);
      if (!under_way) network.faults.path_mtu = 1500;
      Request* s = send(*a, to_b, out, 1);
      if (under_way) {
        network.run_for(12'000);
        network.faults.path_mtu = 1500;
      }
      EXPECT_EQ(wait(*b, r, 20 * kSecond).status, Status::success) << length;
      EXPECT_EQ(wait(*a, s, 20 * kSecond).status, Status::success);
      EXPECT_EQ(in, out);
    }
  }
}

TEST_F(ProbeTest, fall_back__not_because_the_receiver_has_no_memory) {
  Config small = jumbo();
  small.buffer_bytes = 32 * 1024;
  open(jumbo(), small);
  network.run_for(kSecond);
  for (int i = 0; i < 20; i++) (void)send(*a, to_b, message(20000), 1);
  network.run_for(20 * kSecond);
  ASSERT_GT(b->counters[Counter::back_pressure], 0U);
  for (int i = 0; i < 20; i++)
    EXPECT_EQ(wait(*b, receive(*b, room(20000), 1), 30 * kSecond).status, Status::success);
}

TEST_F(ProbeTest, set_mtu__smaller_and_larger) {
  open(jumbo(), jumbo());
  network.run_for(kSecond);
  exchange_both_ways();
  (*b)->set_mtu(network.now, 1500);
  exchange_both_ways();
  EXPECT_LE(peer_info(to_a).frame_max, 1514U);
  (*b)->set_mtu(network.now, 9000);
  to_a = connect(network, *b, *a);
  network.run_for(kSecond);
  EXPECT_EQ(peer_info(to_a).frame_max, 9014U);
  exchange_both_ways();
}

TEST_F(ProbeTest, set_mtu__absurd_values) {
  open(jumbo(), jumbo());
  for (const std::uint32_t mtu : {0U, 68U, 100U, 1U << 20, 0xFFFFFFFFU}) {
    (*a)->set_mtu(network.now, mtu);
    network.run_for(kMillisecond);
  }
  (*a)->set_mtu(network.now, 1500);
  exchange_both_ways();
}

// The receiver assembles at most 64 fragments.
TEST_F(ProbeTest, set_mtu__too_small_for_a_medium_under_way) {
  for (const bool by_peer : {false, true}) {
    network.clear();
    Config config;
    config.rndv_threshold = 80000;
    config.mtu = 9000;
    config.buffered_sends_max = 0;
    open(config, config);
    network.run_for(kSecond);
    network.faults.drop = drop_all(wire::PacketType::medium);
    Request* s = send(*a, to_b, message(80000), 7);
    network.run_for(50 * kMillisecond);
    std::size_t most = 0;
    network.faults.drop = [&](const Bytes& f) {
      if (type_of(f) == wire::PacketType::medium) most = std::max<std::size_t>(most, std::size_t(f[44]) + 1);
      return by_peer && type_of(f) == wire::PacketType::medium;
    };
    if (by_peer) {
      (*b)->set_mtu(network.now, 576);
      EXPECT_EQ(connect(network, *b, *a), to_a);  // announces the change
    } else {
      (*a)->set_mtu(network.now, 576);
    }
    EXPECT_EQ(wait(*a, s, kSecond).status, Status::endpoint_unreachable);
    EXPECT_LE(most, 64U);
    network.faults.drop = nullptr;
    EXPECT_NE(connect(network, *a, *b), nullptr);
    EXPECT_NE(connect(network, *b, *a), nullptr);
    exchange_both_ways();
  }
}

// A message that one long frame carries needs no rendezvous, whatever the threshold.
TEST_F(ProbeTest, long_frames__carry_messages_up_to_their_length) {
  for (const bool legacy : {false, true}) {
    network.clear();
    Config config;
    config.mtu = 65000;
    config.rndv_threshold = 16384;
    config.extension = !legacy;
    open(config, config);
    exchange(*a, to_b, *b, 20000);  // proves the frame
    network.run_for(kSecond);
    for (const std::size_t length : {20000, 48 * 1024, 64000, 65000, 70000}) {
      const Counters before = a->counters;
      exchange(*a, to_b, *b, length);
      const auto by = [&](Counter c) { return a->counters[c] - before[c]; };
      const bool eager = !legacy && length < 64900;
      EXPECT_EQ(by(Counter::send_medium_frag), eager ? 1U : 0U) << length;
      EXPECT_EQ(by(Counter::send_rndv), eager ? 0U : 1U) << length;
    }
  }
}

TEST_F(ProbeTest, set_mtu__while_a_pull_runs) {
  open(jumbo(), jumbo());
  network.run_for(kSecond);
  Bytes& out = message(1000000);
  Bytes& in = room(1000000);
  Request* r = receive(*b, in, 1);
  (void)send(*a, to_b, out, 1);
  network.run_for(20'000);
  (*b)->set_mtu(network.now, 1500);
  EXPECT_EQ(wait(*b, r, 20 * kSecond).status, Status::success);
  EXPECT_EQ(in, out);
}

TEST_F(ProbeTest, checksum__in_force_only_when_both_ask) {
  for (const bool at_a : {false, true}) {
    for (const bool at_b : {false, true}) {
      for (const auto mode : {wire::Mode::omx, wire::Mode::mxoe}) {
        Config ca = jumbo(), cb = jumbo();
        ca.checksum = at_a;
        cb.checksum = at_b;
        ca.mode = cb.mode = mode;
        network.clear();
        open(ca, cb);
        EXPECT_EQ(peer_info(to_b).checksum, at_a && at_b);
        EXPECT_EQ(peer_info(to_a).checksum, at_a && at_b);
        exchange_both_ways();
      }
    }
  }
}

TEST_F(ProbeTest, checksum__damage_of_every_frame_type_is_noticed) {
  Config config = jumbo();
  config.checksum = true;
  open(config, config);
  network.faults.corrupt = 0.05;
  for (int i = 0; i < 20; i++) exchange_both_ways();
  EXPECT_GT(a->counters[Counter::drop_bad_checksum], 0U);
}

TEST_F(ProbeTest, modes__one_insists_on_mx_sizes) {
  Config mx = jumbo();
  mx.mode = wire::Mode::mxoe;
  open(jumbo(), mx);
  EXPECT_EQ(peer_info(to_b).mode, wire::Mode::mxoe);
  EXPECT_EQ(peer_info(to_a).mode, wire::Mode::mxoe);
  EXPECT_EQ(peer_info(to_b).mode_told, wire::Mode::mxoe);
  EXPECT_EQ(peer_info(to_a).mode_told, wire::Mode::omx) << "what it is set to, not what is in force";
  exchange_both_ways();
}

}  // namespace
}  // namespace omx::protocol::test
