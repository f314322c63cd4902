// SPDX-License-Identifier: BSD-3-Clause
// Endpoints with several boards each (docs/explanation/rails.md): agreement, proof, suspicion and choice.
// tests/simulation/engine/ rails_test.cc measures the speed.
#include <map>

#include "protocol/actions/probe.h"
#include "protocol/actions/rails_tend.h"
#include "protocol/state/rails.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

constexpr std::size_t kStriped = 1 << 20;

class RailsTest : public PairTest {
 protected:
  // Opens a pair. The receiver is `b`, and `cables[i]` is the board of a that board i of b reaches.
  void open_rails(unsigned boards_a, unsigned boards_b, Config config = {}) {
    a = &network.add(config, boards_a);
    b = &network.add(config, boards_b);
    network.faults.drop = [this](const Bytes& frame) { return !passes(frame); };
    to_b = connect(network, *a, *b);
    ASSERT_NE(to_b, nullptr);
    to_a = connect(network, *b, *a);
    ASSERT_NE(to_a, nullptr);
  }
  static unsigned board(NicId nic) { return static_cast<unsigned>(nic >> 24 & 0xFF); }
  static bool of_b(NicId nic) { return (nic & 0xFF) == 2; }
  bool passes(const Bytes& frame) {
    const NicId to = mac_load(frame.data()), from = mac_load(frame.data() + 6);
    const unsigned at_a = board(of_b(to) ? from : to), at_b = board(of_b(to) ? to : from);
    if (!cables.empty() && cables.at(at_b) != at_a) return false;
    if (cut & 1U << at_b) return false;
    if (of_b(to)) data[at_b] += type_of(frame) == wire::PacketType::pull_reply;
    sent[type_of(frame)][at_b]++;
    return true;
  }
  Rails& at_b() { return *to_a->rails; }
  std::uint64_t count_b(Counter id) { return b->counters[id]; }
  void large(std::uint64_t match, std::size_t length = kStriped) { exchange(*a, to_b, *b, length, match); }
  void prove() {
    large(1000);
    network.run_for(kSecond);
    for (unsigned i = 0; i < at_b().count; i++) ASSERT_TRUE(at_b().paths[i].up()) << i;
    data = {};
  }
  Bytes probe_reply(NicId from, NicId to, std::uint32_t cookie, std::uint32_t size, std::size_t length) {
    wire::Probe packet;
    packet.session = (*b)->config().session;
    packet.flags = wire::kFlagRail;
    packet.is_reply = true;
    packet.size = size;
    packet.cookie = cookie;
    Bytes frame = hand_made(from, to, wire::PacketType::probe, [&](std::byte* out, const wire::Head& head) {
      return encode_probe(out, head, packet);
    });
    frame.resize(length);
    return frame;
  }

  std::vector<unsigned> cables;
  unsigned cut = 0;  // bit i: frames by board i of b are lost
  std::array<std::uint64_t, kRailsMost> data{};
  std::map<wire::PacketType, std::array<std::uint64_t, kRailsMost>> sent;
};

// --- agreement

TEST_F(RailsTest, agree__two_that_have_several_and_nothing_is_believed_before_it_is_proven) {
  open_rails(2, 2);
  ASSERT_NE(to_a->rails, nullptr);
  ASSERT_NE(to_b->rails, nullptr);
  EXPECT_EQ(at_b().count, 2);
  EXPECT_EQ(at_b().peer.nics[1], Network::nic_of(0, 1));
  EXPECT_TRUE(at_b().paths[0].up());
  EXPECT_EQ(at_b().paths[1].state, RailState::unknown);
  exchange_both_ways();
  network.run_for(kSecond);
  EXPECT_EQ(count_b(Counter::rail_proven), 1U);
  EXPECT_TRUE(at_b().paths[1].up());
  data = {};
  large(1);
  EXPECT_GT(data[0], 200U);
  EXPECT_GT(data[1], 200U);
}

TEST_F(RailsTest, agree__not_with_one_board_nor_in_mxoe) {
  open_rails(2, 1);
  EXPECT_EQ(to_a->rails, nullptr);
  EXPECT_EQ(to_b->rails, nullptr);
  network.clear();
  Config mxoe;
  mxoe.mode = wire::Mode::mxoe;
  open_rails(2, 2, mxoe);
  EXPECT_EQ(to_a->rails, nullptr);
  large(1);
}

// Announcements of boards that belong to others.
TEST_F(RailsTest, agree__not_to_boards_that_are_ours_or_somebody_elses) {
  open_rails(2, 2);
  Host& c = network.add({});
  ASSERT_NE(connect(network, c, *b), nullptr);
  const NicId known = Network::nic_of(0), first = Network::nic_of(5);
  const wire::RailNics wrong[] = {
      {2, {known, Network::nic_of(1)}},     // the victim's own board
      {2, {known, Network::nic_of(1, 1)}},  // and its other one
      {2, {known, Network::nic_of(2)}},     // a connected endpoint's
      {2, {first, Network::nic_of(0, 1)}},  // the second one is a's
  };
  for (const wire::RailNics& nics : wrong) {
    const std::uint64_t before = count_b(Counter::rail_refused);
    Peer& p = nics.nics[0] == known ? *to_a : *(*b)->find_peer(Network::nic_of(2), 0);
    wire::ConnectExt ext;
    ext.present = true;
    ext.features = wire::kFeatureRails | wire::kFeatureProbe;
    ext.rails = nics;
    rails_agree((*b)->state(), p, ext);
    EXPECT_EQ(count_b(Counter::rail_refused), before + 1) << nics.nics[0] << ' ' << nics.nics[1];
    EXPECT_EQ(p.rails, nullptr);
  }
  EXPECT_TRUE((*b)->state().rails.rail_aliases.empty());
  large(1);  // uses one board
}

// A CONNECT names its sender's first board itself. Another host must not connect in the name of a peer by
// naming the peer's board before its own.
TEST_F(RailsTest, agree__a_connect_by_a_board_that_is_not_the_peer_s) {
  open_rails(2, 2);
  prove();
  const NicId liar = Network::nic_of(7);
  const std::uint32_t session = to_a->session.true_session;
  for (const NicId named : {Network::nic_of(0), Network::nic_of(0, 1)}) {
    for (const std::uint32_t claimed : {0x666U, session}) {
      wire::Connect packet;
      packet.src_session = claimed;
      packet.target_recv_seqnum_start = kSeqFirst;
      packet.ext.present = true;
      packet.ext.features = wire::kFeatureRails | wire::kFeatureProbe;
      packet.ext.max_frame = 1514;
      packet.ext.pull_frames = 32;
      packet.ext.eager_frames = 256;
      packet.ext.generation = to_a->counting.peer_generation + (claimed == session);
      packet.ext.rails = {2, {named, liar}};
      network.inject(hand_made(
          liar, Network::nic_of(1), wire::PacketType::connect,
          [&](std::byte* out, const wire::Head& head) { return encode_connect(out, head, packet); }));
      network.run_for(kMillisecond);
      EXPECT_EQ(to_a->session.true_session, session);
      ASSERT_NE(to_a->rails, nullptr);
      EXPECT_EQ(at_b().peer.nics[1], Network::nic_of(0, 1));
    }
  }
  EXPECT_EQ(count_b(Counter::drop_bad_source), 4U);
  EXPECT_EQ(count_b(Counter::peer_restarted), 0U);
  large(1);
}

TEST_F(RailsTest, agree__a_peer_that_comes_back_with_one_board_has_one) {
  open_rails(2, 2);
  prove();
  network.restart(0, with_session(0x77));
  a = network.hosts[0].get();
  to_b = connect(network, *a, *b);
  ASSERT_NE(to_b, nullptr);
  to_a = (*b)->find_peer(Network::nic_of(0), 0);
  EXPECT_EQ(to_a->rails, nullptr);
  EXPECT_TRUE((*b)->state().rails.rail_aliases.empty());
  data = {};
  large(2);
  EXPECT_EQ(data[1], 0U);
}

// --- proof

TEST_F(RailsTest, proof__takes_the_cookie_the_length_and_the_board_that_was_probed) {
  open_rails(2, 2);
  cut = 2;
  Bytes& out = message(kStriped);
  Request* const r = receive(*b, room(kStriped), 5);
  Request* const s = send(*a, to_b, out, 5);
  ASSERT_TRUE(network.run_until([&] { return at_b().paths[1].cookie != 0; }));
  const RailPath& path = at_b().paths[1];
  const NicId probed = Network::nic_of(0, path.to), other = Network::nic_of(0, 1U - path.to),
              ours = Network::nic_of(1, 1);
  const auto heard = [&](NicId from, NicId to, std::uint32_t cookie, std::uint32_t size, std::size_t length) {
    b->hear(network.now, probe_reply(from, to, cookie, size, length));
    return path.up();
  };
  EXPECT_FALSE(heard(probed, ours, path.cookie ^ 4, 1514, 1514));
  EXPECT_FALSE(heard(probed, ours, 0, 1514, 1514));
  EXPECT_FALSE(heard(probed, ours, path.cookie, 1514, 800));  // claims a larger size than it has
  EXPECT_FALSE(heard(other, ours, path.cookie, 1514, 1514));
  EXPECT_FALSE(heard(Network::nic_of(7), ours, path.cookie, 1514, 1514));
  EXPECT_FALSE(heard(probed, Network::nic_of(1, 0), path.cookie, 1514, 1514));
  EXPECT_TRUE(heard(probed, ours, path.cookie, 1514, 1514));
  EXPECT_EQ(path.frame, 1514U);
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
}

// A short frame that came back is no proof for the long frames in use.
TEST_F(RailsTest, proof__is_of_the_frames_in_use) {
  Config config;
  config.mtu = 9000;
  open_rails(2, 2, config);
  network.run_for(kSecond);
  prove();
  EXPECT_GE(at_b().paths[1].frame, 9014U);
  at_b().paths[1].frame = 1514;
  const std::uint32_t usable = rails_usable((*b)->state(), *to_a, to_a->agreed.sizes.pull_reply_max);
  EXPECT_EQ(usable, 1U);
  large(1);
  network.run_for(kSecond);
  EXPECT_GE(at_b().paths[1].frame, 9014U);
}

// Proof works in whatever order the cables are plugged.
TEST_F(RailsTest, proof__finds_crossed_cables) {
  for (const std::vector<unsigned>& plugged :
       {std::vector<unsigned>{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 1, 3, 2}}) {
    network.clear();
    cables = plugged;
    open_rails(4, 4);
    for (std::uint64_t i = 0; i < 20; i++) {
      large(i);
      network.run_for(100 * kMillisecond);
    }
    data = {};
    large(100, 4 << 20);
    for (unsigned i = 0; i < 4; i++) {
      EXPECT_TRUE(at_b().paths[i].up()) << i;
      EXPECT_EQ(at_b().paths[i].to, plugged[i]);
      EXPECT_GT(data[i], 0U) << i;
    }
  }
}

TEST_F(RailsTest, proof__of_more_boards_than_the_peer_has) {
  open_rails(2, 4);
  for (std::uint64_t i = 0; i < 5; i++) large(i);
  for (unsigned i = 0; i < 4; i++) EXPECT_TRUE(at_b().paths[i].up()) << i;
}

// --- suspicion

TEST_F(RailsTest, suspicion__what_was_asked_for_by_a_silent_board_comes_by_the_others) {
  for (const unsigned boards : {2U, 3U, 4U}) {
    for (unsigned gone = 0; gone < boards; gone++) {
      SCOPED_TRACE(testing::Message() << gone << " of " << boards);
      network.clear();
      open_rails(boards, boards);
      prove();
      if (HasFatalFailure()) return;
      cut = 1U << gone;
      large(1);
      EXPECT_EQ(at_b().paths[gone].state, RailState::suspected);
      EXPECT_GT(count_b(Counter::pull_rerequest_rail), 0U);
      EXPECT_EQ(at_b().home, gone == 0 ? 1 : 0);
      for (unsigned i = 0; i < boards; i++) EXPECT_EQ(at_b().paths[i].up(), i != gone) << i;
      data = {};
      large(2);
      EXPECT_EQ(data[gone], 0U);

      cut = 0;
      network.run_for(2 * kSecond);
      large(3);
      network.run_for(kSecond);
      data = {};
      large(4);
      EXPECT_GT(data[gone], 0U);
      EXPECT_EQ(at_b().home, 0);
    }
  }
}

TEST_F(RailsTest, suspicion__short_messages_leave_a_home_that_does_not_work_and_return) {
  open_rails(2, 2);
  prove();
  cut = 1;
  exchange(*a, to_b, *b, 100, 1);
  exchange(*b, to_a, *a, 100, 2);
  EXPECT_EQ(to_b->rails->home, 1);
  EXPECT_EQ(at_b().home, 1);
  sent.clear();
  for (std::uint64_t i = 10; i < 20; i++) exchange(*a, to_b, *b, 100, i);
  EXPECT_GE(sent[wire::PacketType::small][1], 10U);
  cut = 0;
  network.run_for(2 * kSecond);
  for (std::uint64_t i = 20; i < 30; i++) {
    exchange(*a, to_b, *b, 100, i);
    exchange(*b, to_a, *a, 100, i);
    network.run_for(200 * kMillisecond);
  }
  EXPECT_EQ(to_b->rails->home, 0);
  EXPECT_EQ(at_b().home, 0);
}

// No board is suspected while no frame comes by any.
TEST_F(RailsTest, suspicion__of_none_while_none_works) {
  open_rails(3, 3);
  prove();
  Bytes& in = room(kStriped);
  Bytes& out = message(kStriped, 9);
  Request* const r = receive(*b, in, 9);
  Request* const s = send(*a, to_b, out, 9);
  network.run_until([&] { return data[0] + data[1] + data[2] > 100; });
  cut = 7;
  network.run_for(2 * kSecond);
  EXPECT_EQ(count_b(Counter::rail_suspected), 0U);
  cut = 0;
  EXPECT_EQ(wait(*b, r, 10 * kSecond).status, Status::success);
  EXPECT_EQ(wait(*a, s, 10 * kSecond).status, Status::success);
  EXPECT_EQ(in, out);
}

TEST_F(RailsTest, suspicion__all_lost_for_good_ends_the_requests_and_a_new_connect_has_rails_again) {
  Config config;
  config.reliability.peer_timeout = 2 * kSecond;
  open_rails(2, 2, config);
  prove();
  cut = 3;
  Request* const s = send(*a, to_b, message(kStriped), 3);
  EXPECT_EQ(wait(*a, s, 60 * kSecond).status, Status::endpoint_unreachable);
  cut = 0;
  to_b = connect(network, *a, *b);
  ASSERT_NE(to_b, nullptr);
  to_a = (*b)->find_peer(Network::nic_of(0), 0);
  ASSERT_NE(to_a->rails, nullptr);
  large(4);
  network.run_for(kSecond);
  data = {};
  large(5);
  EXPECT_GT(data[1], 0U);
}

TEST_F(RailsTest, suspicion__one_that_was_only_slow_is_given_more_time) {
  open_rails(2, 2);
  prove();
  network.faults.late = [](const Bytes& frame) -> TimeNs {
    const bool by_second = board(mac_load(frame.data())) == 1;
    return by_second ? 20 * kMillisecond : 0;
  };
  large(1);
  EXPECT_EQ(count_b(Counter::rail_suspected), 1U);
  network.run_for(200 * kMillisecond);
  large(2);
  network.run_for(200 * kMillisecond);
  const RailPath& path = at_b().paths[1];
  EXPECT_TRUE(path.up());
  EXPECT_GE(path.patience, 80 * kMillisecond);
  EXPECT_GT(path.patience_until, network.now);
  // The board is not suspected for the same loss again.
  const std::uint64_t before = count_b(Counter::rail_suspected);
  large(3);
  network.run_for(200 * kMillisecond);
  EXPECT_EQ(count_b(Counter::rail_suspected), before);
}

// --- carrier

TEST_F(RailsTest, carrier__a_board_without_one_is_left_alone_at_once) {
  open_rails(3, 3);
  prove();
  for (const unsigned gone : {2U, 0U}) {
    Bytes& in = room(kStriped);
    Bytes& out = message(kStriped, 20 + gone);
    Request* const r = receive(*b, in, 20 + gone);
    Request* const s = send(*a, to_b, out, 20 + gone);
    data = {};
    network.run_until([&] { return data[gone] > 30; });
    cut = 1U << gone;
    (*b)->rail_carrier(network.now, gone, false);
    EXPECT_EQ(at_b().paths[gone].state, RailState::suspected);
    const TimeNs began = network.now;
    EXPECT_EQ(wait(*b, r).status, Status::success);
    EXPECT_LT(network.now - began, 10 * kMillisecond);  // virtual time: it did not wait
    EXPECT_EQ(wait(*a, s).status, Status::success);
    EXPECT_EQ(in, out);
    sent.clear();
    network.run_for(kSecond);
    EXPECT_EQ(sent[wire::PacketType::probe][gone], 0U);
    cut = 0;
    (*b)->rail_carrier(network.now, gone, true);
    network.run_for(2 * kSecond);
    large(30 + gone);
    network.run_for(kSecond);
    EXPECT_TRUE(at_b().paths[gone].up());
    EXPECT_EQ(at_b().home, 0);
  }
}

// --- the choice of the next board

// Behaves as if each board had been measured.
class RailsChoice : public RailsTest {
 protected:
  void rates(std::vector<std::uint64_t> bytes_in_a_millisecond) {
    for (unsigned i = 0; i < bytes_in_a_millisecond.size(); i++) {
      PullPort& port = (*b)->state().pulling.port(i);
      port.rate = bytes_in_a_millisecond[i];
      port.rate_known = network.now;
    }
  }
  std::uint64_t rate(unsigned i) { return (*b)->state().pulling.port(i).rate; }
};

TEST_F(RailsChoice, rate__is_of_what_came_while_something_was_on_its_way) {
  open_rails(2, 2);
  prove();
  // A frame takes 12 us by one board (1 Gb/s), and 3 by the other.
  TimeNs free[2] = {};
  network.faults.late = [&](const Bytes& frame) -> TimeNs {
    if (type_of(frame) != wire::PacketType::pull_reply) return 0;
    const unsigned i = board(mac_load(frame.data()));
    free[i] = std::max(free[i], network.now) + (i ? 3'000 : 12'000);
    return free[i] - network.now;
  };
  for (std::uint64_t i = 0; i < 4; i++) {
    large(i, 4 << 20);
    network.run_for(10 * kMillisecond);  // this time does not count
  }
  const double unit = to_a->agreed.sizes.pull_reply_max;
  EXPECT_NEAR(static_cast<double>(rate(0)), unit * 1000 / 12, unit * 1000 / 12 * 0.3);
  EXPECT_NEAR(static_cast<double>(rate(1)), unit * 1000 / 3, unit * 1000 / 3 * 0.3);
  data = {};
  large(10, 4 << 20);
  const double share = static_cast<double>(data[1]) / static_cast<double>(data[0]);
  EXPECT_GT(share, 3);
  EXPECT_LT(share, 5.5);
}

TEST_F(RailsChoice, rate__a_slow_board_gets_no_last_block_and_one_that_was_long_not_measured_is_tried) {
  open_rails(2, 2);
  prove();
  rates({1'000'000, 10});  // ten bytes a millisecond: requests by that board would take hours
  data = {};
  large(1);
  EXPECT_EQ(data[1], 0U);
  network.run_for(250 * kMillisecond);
  large(2);
  EXPECT_GT(data[1], 0U);
}

TEST_F(RailsChoice, short_ones__take_home) {
  open_rails(2, 2);
  prove();
  for (std::uint64_t i = 0; i < 10; i++) large(i, kRailBytes - 2000);
  EXPECT_EQ(data[1], 0U);
  large(20, kRailBytes + 2000);
}

}  // namespace
}  // namespace omx::protocol::test
