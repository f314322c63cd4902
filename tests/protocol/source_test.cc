// SPDX-License-Identifier: BSD-3-Clause
// Endpoints of one NIC may belong to different users. No frame is taken in the name of an endpoint other than
// the one that sent it (docs/reference/wire.md 3).
#include "base/bytes.h"
#include "tests/protocol/bulk_fixture.h"

namespace omx::protocol::test {
namespace {

constexpr std::uint8_t kOther = 9;  // another endpoint of the peer's NIC

Config at_endpoint(std::uint8_t endpoint, Config config = {}) {
  config.endpoint = endpoint;
  return config;
}

class SourceTest : public BulkTest {
 protected:
  // Opens a pair in which `b` does not have the feature, like releases before it.
  void open_without_feature() {
    network.faults.drop = [this](const Bytes& frame) {
      wire::Connect packet;
      wire::Head head;
      if (type_of(frame) != wire::PacketType::connect || mac_load(frame.data() + 6) != Network::nic_of(1) ||
          wire::decode_connect(frame, packet) != wire::Drop::none ||
          wire::decode_head(frame, head) != wire::Drop::none)
        return false;
      EXPECT_TRUE(packet.ext.features & wire::kFeatureSource);
      packet.ext.features &= static_cast<std::uint16_t>(~wire::kFeatureSource);
      network.inject(hand_made(head.src, head.dst, head.type, [&](std::byte* out, const wire::Head& own) {
        return encode_connect(out, own, packet);
      }));
      return true;
    };
    open(at_endpoint(3), at_endpoint(4));
  }
  // Lets `a` pull a message, no answer to which arrives.
  Request* pull_begin(Bytes& in) {
    network.faults.drop = drop_all(wire::PacketType::pull_reply);
    Request* r = receive(*a, in, 1);
    (void)send(*b, to_a, message(100000), 1);
    EXPECT_TRUE(network.run_until([&] { return r->rx.pull != nullptr; }, kSecond));
    return r;
  }
  wire::PullReply first_reply(const Pull& pull, std::uint8_t source) const {
    wire::PullReply reply;
    reply.src_endpoint = source;
    reply.frame_length = static_cast<std::uint16_t>(pull.unit);
    reply.pull_handle = pull.handle;
    reply.magic = wire::kPullMagic ^ (*a)->config().endpoint;
    return reply;
  }
  // Makes a PULL_REPLY from b's NIC to a.
  Bytes reply_frame(const wire::PullReply& reply) const {
    return hand_made(
        (*b)->config().nic, (*a)->config().nic, wire::PacketType::pull_reply,
        [&](std::byte* out, const wire::Head& head) { return encode_pull_reply(out, head, reply); },
        Bytes(reply.frame_length, std::byte{0x55}));
  }
  Bytes nack_frame(std::uint32_t handle, std::uint8_t source) const {
    wire::NackMcp nack;
    nack.src_endpoint = (*a)->config().endpoint;
    nack.refusing_endpoint = source;
    nack.code = wire::NackCode::bad_rdma_window;
    nack.pull_handle = handle;
    nack.magic = wire::kPullMagic ^ (*a)->config().endpoint;
    return hand_made(
        (*b)->config().nic, (*a)->config().nic, wire::PacketType::nack_mcp,
        [&](std::byte* out, const wire::Head& head) { return encode_nack_mcp(out, head, nack); });
  }
  std::uint64_t dropped(const Host& host) const { return host.counters[Counter::drop_bad_source]; }
};

// Checks the byte in all answers of both sides.
void expect_named(const Bytes& frame, const Host& a, const Host& b, unsigned& seen) {
  const bool reply = type_of(frame) == wire::PacketType::pull_reply;
  if (!reply && type_of(frame) != wire::PacketType::nack_mcp) return;
  const Host& from = mac_load(frame.data() + 6) == a.endpoint->config().nic ? a : b;
  EXPECT_EQ(frame.at(reply ? 14 : 20), static_cast<std::byte>(from.endpoint->config().endpoint));
  seen++;
}

TEST_F(SourceTest, sent__in_both_modes_and_to_legacy_peers) {
  for (const wire::Mode mode : {wire::Mode::omx, wire::Mode::mxoe}) {
    for (const bool extension : {true, false}) {
      network.clear();
      network.faults.drop = nullptr;
      Config config;
      config.mode = mode;
      config.extension = extension;
      open(at_endpoint(3, config), at_endpoint(4, config));
      unsigned seen = 0;
      network.faults.drop = [&](const Bytes& frame) { return expect_named(frame, *a, *b, seen), false; };
      exchange(*a, to_b, *b, 100000);
      exchange(*b, to_a, *a, 100000);
      exchange(*a, to_b, *b, 100000);  // the first frames unscheduled
      EXPECT_GT(seen, 3 * 100000U / 9000);
      const unsigned before = seen;
      wire::Pull pull;  // of a session that is gone, and of no region
      pull.dst_endpoint = 3;
      pull.src_endpoint = 4;
      pull.session = 1;
      network.inject(hand_made_pull(*b, *a, pull));
      pull.session = (*a)->config().session;
      network.inject(hand_made_pull(*b, *a, pull));
      network.run_for(kMillisecond);
      EXPECT_EQ(seen, before + 2);
    }
  }
}

TEST_F(SourceTest, sent__by_the_bulk_path) {
  open(at_endpoint(3, with_bulk(1)), at_endpoint(4, with_bulk(2)));
  unsigned seen = 0;
  network.faults.drop = [&](const Bytes& frame) { return expect_named(frame, *a, *b, seen), false; };
  for (int i = 0; i < 3; i++) exchange(*a, to_b, *b, 400000);
  EXPECT_GT(a->counters[Counter::send_pull_reply_bulk], 0U);
  EXPECT_GE(seen, a->counters[Counter::send_pull_reply_bulk]);
}

TEST_F(SourceTest, pull_reply__another_endpoint_writes_nothing) {
  open(at_endpoint(3), at_endpoint(4));
  Bytes& in = room(100000);
  Pull& pull = *pull_begin(in)->rx.pull;
  for (const std::uint8_t source : {0, 3, 5, 255}) network.inject(reply_frame(first_reply(pull, source)));
  network.run_for(kMillisecond);
  EXPECT_EQ(in, Bytes(100000, std::byte{0xEE}));
  EXPECT_EQ(dropped(*a), 4U);
  EXPECT_EQ(a->counters[Counter::drop_pull_reply_bad_handle], 0U);
  network.inject(reply_frame(first_reply(pull, 4)));
  network.run_for(kMillisecond);
  EXPECT_EQ(in[pull.unit - 1], std::byte{0x55});
}

TEST_F(SourceTest, pull_reply__another_endpoint_has_no_place) {
  open(at_endpoint(3), at_endpoint(4));
  Bytes& in = room(100000);
  Pull& pull = *pull_begin(in)->rx.pull;
  ExpectedFrame place;
  ASSERT_EQ((*a)->expected_replies({&place, 1}, 0), 1U);
  EXPECT_FALSE((*a)->is_expected(place, reply_frame(first_reply(pull, kOther))));
  EXPECT_TRUE((*a)->is_expected(place, reply_frame(first_reply(pull, 4))));
  (*a)->on_placed(network.now, place, reply_frame(first_reply(pull, kOther)), 0);
  EXPECT_EQ(a->counters[Counter::recv_pull_reply], 0U);
  EXPECT_EQ(dropped(*a), 1U);
}

TEST_F(SourceTest, pull_reply__peers_without_the_feature_do_not_name_it) {
  open_without_feature();
  Bytes& in = room(100000);
  Pull& pull = *pull_begin(in)->rx.pull;
  network.inject(reply_frame(first_reply(pull, 0)));
  network.run_for(kMillisecond);
  EXPECT_EQ(in[pull.unit - 1], std::byte{0x55});
  network.inject(nack_frame(pull.handle, 0));
  network.run_for(kMillisecond);
  EXPECT_EQ(a->counters[Counter::recv_nack_mcp], 1U);
  EXPECT_EQ(dropped(*a), 0U);
}

TEST_F(SourceTest, nack_mcp__another_endpoint_ends_nothing) {
  open(at_endpoint(3), at_endpoint(4));
  Request* r = pull_begin(room(100000));
  const std::uint32_t handle = r->rx.pull->handle;
  for (const std::uint8_t source : {0, 3, 5, 255}) network.inject(nack_frame(handle, source));
  network.run_for(kMillisecond);
  EXPECT_FALSE((*a)->done(r));
  EXPECT_EQ(dropped(*a), 4U);
  EXPECT_EQ(a->counters[Counter::recv_nack_mcp], 0U);
  network.inject(nack_frame(handle, 4));
  EXPECT_EQ(wait(*a, r, kSecond).status, Status::bad_rdma_window);
}

// The magic of unscheduled data names the sender, too. The first frame of a message comes before its RNDV,
// and makes the receiver ask for the message; another endpoint must not achieve that either.
TEST_F(SourceTest, unscheduled__another_endpoint_s_are_neither_written_nor_noted) {
  Config jumbo;
  jumbo.mtu = 9000;
  open(at_endpoint(3, jumbo), at_endpoint(4, jumbo));
  network.run_for(10 * kMillisecond);
  exchange(*b, to_a, *a, 60000);  // gives leave
  for (const bool before : {true, false}) {
    std::vector<Bytes> data;
    Bytes rndv;
    network.faults.drop = [&](const Bytes& frame) {
      if (type_of(frame) == wire::PacketType::pull_reply) data.push_back(frame);
      if (type_of(frame) == wire::PacketType::rndv) rndv = frame;
      return type_of(frame) == wire::PacketType::pull_reply || type_of(frame) == wire::PacketType::rndv;
    };
    const auto dropped_before = dropped(*a), taken = a->counters[Counter::recv_unscheduled];
    Bytes& in = room(60000);
    Bytes& out = message(60000, before);
    Request* r = receive(*a, in, 1);
    (void)send(*b, to_a, out, 1);
    ASSERT_FALSE(data.empty());
    ASSERT_TRUE(wire::unscheduled(load_be32(data[0].data() + 28)));
    if (!before) network.inject(rndv);
    Bytes forged = data[0];
    forged[14] = std::byte{kOther};
    std::fill(forged.begin() + 32, forged.end(), std::byte{0x55});
    network.inject(forged);
    network.run_for(20'000);
    EXPECT_EQ(dropped(*a), dropped_before + 1);
    EXPECT_EQ(in, Bytes(60000, std::byte{0xEE}));
    if (before) network.inject(rndv);
    for (const Bytes& frame : data) network.inject(frame);
    network.faults.drop = nullptr;
    EXPECT_EQ(wait(*a, r, kMillisecond).status, Status::success);
    EXPECT_EQ(in, out);
    EXPECT_EQ(a->counters[Counter::recv_unscheduled], taken + 1);
    network.run_for(kMillisecond);
  }
}

// A PACK names the endpoint that sent it, and the packets in it name one, too.
TEST_F(SourceTest, packets__only_of_the_endpoint_that_sent_the_frame) {
  open(at_endpoint(3), at_endpoint(4));
  Request* s = send(*a, to_b, message(100000), 1, true);
  ASSERT_TRUE(network.run_until([&] { return s->phase == Phase::await_notify; }));
  wire::Notify notify;
  notify.dst_endpoint = 3;
  notify.src_endpoint = 4;
  notify.session = (*a)->config().session;
  notify.total_length = 100000;
  notify.rdma_id = s->region;
  notify.rdma_seqnum = s->region_generation;
  notify.seqnum = to_b->counting.next_match;
  notify.piggyack = to_b->counting.next_send;
  const auto shared = [&](std::uint8_t outer) {
    const Bytes packet =
        hand_made((*b)->config().nic, (*a)->config().nic, wire::PacketType::notify,
                  [&](std::byte* out, const wire::Head& head) { return encode_notify(out, head, notify); });
    Bytes records(wire::kPacketRecord);
    store_be16(records.data() + 8, 40 - wire::kEthernetHeader);
    records[10] = std::byte{8};
    records.insert(records.end(), packet.begin() + wire::kEthernetHeader, packet.begin() + 40);
    wire::Pack pack;
    pack.dst_endpoint = 3;
    pack.src_endpoint = outer;
    pack.session = (*a)->config().session;
    pack.length = static_cast<std::uint16_t>(records.size());
    network.inject(hand_made(
        (*b)->config().nic, (*a)->config().nic, wire::PacketType::pack,
        [&](std::byte* out, const wire::Head& head) { return encode_pack(out, head, pack); }, records));
    network.run_for(20'000);
  };
  shared(kOther);
  EXPECT_FALSE((*a)->done(s));
  EXPECT_EQ(a->counters[Counter::recv_notify], 0U);
  EXPECT_EQ(dropped(*a), 1U);
  shared(4);
  EXPECT_TRUE((*a)->done(s));
}

// Datagrams are taken from the endpoint that announced their port, so their frames must be that endpoint's.
TEST_F(SourceTest, bulk_sender__is_an_endpoint) {
  open(at_endpoint(3, with_bulk(1)), at_endpoint(4, with_bulk(2)));
  const wire::FrameSender sender = (*b)->bulk_sender(a->endpoint->config().bulk.address);
  EXPECT_EQ(sender.nic, (*a)->config().nic);
  EXPECT_EQ(sender.endpoint, 3);
  EXPECT_TRUE(sender.named_always);
}

}  // namespace
}  // namespace omx::protocol::test
