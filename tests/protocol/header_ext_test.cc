// SPDX-License-Identifier: BSD-3-Clause
// Message class and data (docs/reference/wire.md 7): they arrive, or the send says that they cannot.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class HeaderExtension : public PairTest {
 protected:
  Request* send_with(Host& from, Peer* to, Bytes& data, std::uint8_t message_class, bool has_data) {
    Segment s = segment(data);
    SendOp op;
    op.peer = to;
    op.segments = {&s, 1};
    op.match_info = 7;
    op.message_class = message_class;
    op.has_data = has_data;
    op.data = 0x123456789;
    return from->send(network.now, op).value();
  }
};

TEST_F(HeaderExtension, every_frame_fits__at_every_mtu) {
  for (std::uint32_t mtu = 1500; mtu < 1517; mtu++) {
    network.clear();
    Config config;
    config.mtu = mtu;
    config.checksum = mtu % 2;
    open(config, config);
    std::size_t most = 0;
    network.faults.drop = [&](const Bytes& f) {
      if (type_of(f) != wire::PacketType::probe) most = std::max(most, f.size());
      return false;
    };
    for (const std::size_t length : {8, 128, 20000, 100000}) {
      Bytes& out = message(length);
      Bytes& in = room(length);
      Segment s = segment(in);
      ReceiveOp op;
      op.segments = {&s, 1};
      op.match_info = 7;
      op.message_class = 3;
      Request* r = (*b)->receive(network.now, op).value();
      (void)send_with(*a, to_b, out, 3, true);
      const Completion c = wait(*b, r, kSecond);
      EXPECT_EQ(c.status, Status::success);
      EXPECT_TRUE(c.has_data);
      EXPECT_EQ(c.data, 0x123456789U);
      EXPECT_EQ(in, out);
    }
    EXPECT_LE(most, mtu + 14);
    network.faults.drop = nullptr;
  }
}

TEST_F(HeaderExtension, peer_without__rejects_the_send_and_sends_nothing) {
  Config mxoe;
  mxoe.mode = wire::Mode::mxoe;
  mxoe.mtu = 4144;
  for (const Config& config : {reference(), mxoe}) {
    network.clear();
    open(config, config);
    Request* r = receive(*b, room(20000), 7);
    for (const std::size_t length : {8, 20000, 100000}) {
      EXPECT_EQ(wait(*a, send_with(*a, to_b, message(length), 3, false)).status, Status::rejected);
      EXPECT_EQ(wait(*a, send_with(*a, to_b, message(length), 0, true)).status, Status::rejected);
    }
    network.run_for(kSecond);
    EXPECT_FALSE((*b)->done(r));
    EXPECT_EQ(to_b->counting.next_send, to_b->counting.next_acked);
    EXPECT_EQ(wait(*a, send_with(*a, to_b, message(20000), 0, false)).status, Status::success);
    EXPECT_EQ(wait(*b, r).status, Status::success);
  }
}

TEST_F(HeaderExtension, peer_without__rejects_at_once_what_would_wait) {
  network.faults.drop = [](const Bytes& f) {  // B's CONNECT request
    return type_of(f) == wire::PacketType::connect && f[42] == std::byte{0} && f[11] == std::byte{2};
  };
  open(reference(), reference(), false);
  ASSERT_TRUE(to_a->held_back());
  EXPECT_TRUE((*b)->done(send_with(*b, to_a, message(8), 3, false)));
}

TEST_F(HeaderExtension, peer_without__found_out_while_the_send_waits) {
  open();
  b->paused = true;
  std::vector<Request*> sends;
  for (int i = 0; i < 300; i++) sends.push_back(send_with(*a, to_b, message(8), 3, false));
  to_b->agreed.features &= static_cast<std::uint16_t>(~wire::kFeatureHeaderExt);
  b->paused = false;
  int rejected = 0;
  for (Request* s : sends) rejected += wait(*a, s).status == Status::rejected;
  EXPECT_EQ(rejected, 300 - 255);
}

}  // namespace
}  // namespace omx::protocol::test
