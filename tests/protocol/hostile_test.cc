// SPDX-License-Identifier: BSD-3-Clause
// A hostile peer holds a valid connection. It sends damaged frames of every type beside its own frames, also
// in the name of unknown peers. Its own messages may suffer. The engine must not crash, memory must stay in
// its bounds, and no other peer may notice.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class Hostile : public PairTest, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(Hostile, random_frames__hurt_nobody_else) {
  Random random(GetParam());
  Config config;
  config.buffer_bytes = 1 << 20;
  config.send_buffer_bytes = 1 << 18;
  config.mtu = GetParam() % 2 ? 1500 : 9000;
  config.extension = GetParam() % 3 != 0;
  config.mode = GetParam() % 4 == 0 ? wire::Mode::mxoe : wire::Mode::omx;
  config.reliability.peer_timeout = 2 * kSecond;
  open(config, config);
  Host& c = network.add(config);
  Peer* c_to_b = connect(network, c, *b);
  Peer* b_to_c = connect(network, *b, c);

  // Requests that never end: a receive from c only, and a send that c does not receive.
  Bytes& private_room = room(1000);
  Segment private_segment = segment(private_room);
  ReceiveOp op;
  op.segments = {&private_segment, 1};
  op.match_mask = 0;
  op.match_info = 0;
  op.source = b_to_c;
  op.message_class = 9;
  Request* private_receive = (*b)->receive(network.now, op).value();
  Request* private_send = send(*b, b_to_c, message(50000), 0xDEAD);

  const NicId nic_a = (*a)->config().nic;
  std::vector<Bytes> seen;
  network.faults.drop = [&](const Bytes& f) {
    if (mac_load(f.data() + 6) == nic_a) {
      if (seen.size() < 400)
        seen.push_back(f);
      else
        seen[random.below(400)] = f;
    }
    return false;
  };
  int injected = 0;
  const auto attack = [&] {
    if (seen.empty()) return;
    Bytes f = seen[random.below(seen.size())];
    const std::uint64_t how = random.below(10);
    if (how < 7) {  // changes fields, mostly in the header
      for (std::uint64_t i = 1 + random.below(4); i > 0; i--) {
        const std::size_t end = random.chance(0.8) ? std::min<std::size_t>(f.size(), 64) : f.size();
        static const std::uint8_t kValues[] = {0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF};
        const std::size_t at = 14 + random.below(end - 14);
        f[at] = random.chance(0.5) ? static_cast<std::byte>(kValues[random.below(7)])
                                   : f[at] ^ static_cast<std::byte>(1U << random.below(8));
      }
    } else if (how == 7) {
      f.resize(17 + random.below(f.size() - 16));
    } else if (how == 8) {
      static const std::uint8_t kTypes[] = {1, 3, 4, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 64, 99};
      f[16] = static_cast<std::byte>(kTypes[random.below(16)]);
    }
    if (random.chance(0.3)) mac_store(f.data() + 6, 0x060000000000 + random.below(50));
    injected++;
    (*b)->on_frame(network.now, f);
    if (random.chance(0.2)) (*b)->progress(network.now);
  };

  Bytes big_in(40000), small_in(5000);
  for (int round = 0; round < 60; round++) {
    // The hostile peer's own traffic, which may fail.
    if (!to_b->connected()) (void)(*a)->connect(network.now, (*b)->config().nic, 0, 0, 0, nullptr, true);
    for (const std::size_t length : {8, 100, 3000, 40000}) {
      Bytes& out = message(length);
      Segment s = segment(out);
      SendOp sop;
      sop.peer = to_b;
      sop.segments = {&s, 1};
      sop.match_info = random.below(4);
      sop.forgotten = true;
      (void)(*a)->send(network.now, sop);
      ReceiveOp rop;
      Segment d = segment(length == 40000 ? big_in : small_in);
      rop.segments = {&d, 1};
      rop.match_info = random.below(4);
      rop.source = to_a;
      rop.forgotten = true;
      (void)(*b)->receive(network.now, rop);
      if (to_a->connected()) {
        sop.peer = to_a;
        (void)(*b)->send(network.now, sop);
      }
    }
    for (int i = 0; i < 25; i++) {
      attack();
      network.run_for(20'000);
    }
    // The traffic of all others, which may not.
    for (const std::size_t length : {8, 3000, 40000}) {
      exchange(c, c_to_b, *b, length, 0xBEEF00 + length);
      exchange(*b, b_to_c, c, length, 0xBEEF00 + length);
    }
    ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
    ASSERT_FALSE((*b)->done(private_receive));
    ASSERT_FALSE((*b)->done(private_send));
    const Endpoint::Memory memory = (*b)->memory();
    ASSERT_LE(memory.buffers, (1U << 20) + (1U << 18));
    ASSERT_LE((*b)->state().matching.unexpected.size() * sizeof(Unexpected), (1U << 20) + sizeof(Unexpected));
    ASSERT_LE((*b)->peer_count(), 4U + static_cast<unsigned>(injected));
    ASSERT_LE((*b)->state().memory.pulls.live(), 2000U);
    while (Request* r = (*b)->peek_done()) (*b)->consume(r);
  }
  EXPECT_EQ(private_room, Bytes(1000, std::byte{0xEE}));
  network.faults.drop = nullptr;
}

INSTANTIATE_TEST_SUITE_P(Seeds, Hostile, testing::Range<std::uint64_t>(1, 13));

class Misdirected : public PairTest {};

// Frames that an interface receives for another one on the same link, or for an address that it had before.
TEST_F(Misdirected, frames__for_another_nic_are_counted_and_dropped) {
  open();
  Bytes seen;
  network.faults.drop = [&seen](const Bytes& frame) {
    if (type_of(frame) != wire::PacketType::tiny) return false;
    seen = frame;
    return true;
  };
  (void)send(*a, to_b, message(4), 1);
  ASSERT_FALSE(seen.empty());
  const NicId own = (*b)->config().nic;
  mac_store(seen.data(), own ^ 1);
  (*b)->on_frame(network.now, seen);
  EXPECT_EQ(b->counters[Counter::drop_wrong_nic], 1U);
  EXPECT_EQ(b->counters[Counter::recv_tiny], 0U);
  mac_store(seen.data(), own);
  (*b)->on_frame(network.now, seen);
  EXPECT_EQ(b->counters[Counter::drop_wrong_nic], 1U);
  EXPECT_EQ(b->counters[Counter::recv_tiny], 1U);
  mac_store(seen.data(), kBroadcastNic);
  (*b)->on_frame(network.now, seen);
  EXPECT_EQ(b->counters[Counter::drop_wrong_nic], 1U) << "for all";
}

}  // namespace
}  // namespace omx::protocol::test
