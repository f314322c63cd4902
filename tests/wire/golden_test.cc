// SPDX-License-Identifier: BSD-3-Clause
// The worked examples of docs/spec/wire.md 11 in both directions: our encoders give these bytes, with zeros
// in every pad, and our decoders read these values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples.h"
#include "wire_util.h"

namespace omx::wire::test {
namespace {

constexpr std::uint64_t kMatchInfo = 0x1234567887654321;

// Expects that `header` and `data`, padded as the link does, are the bytes of the example. The example may be
// longer by padding.
void expect_bytes(const Example& example, const Bytes& header, const Bytes& data = {}) {
  Bytes expected = from_hex(example.hex);
  Bytes frame = example.data_bytes ? header : whole_frame(header, data);
  if (!example.data_bytes && frame.size() < expected.size()) frame.resize(expected.size());
  EXPECT_EQ(to_hex(frame), to_hex(expected));
}

// Returns the example as it arrives, with data behind it.
Bytes arrived(const Example& example) {
  Bytes frame = from_hex(example.hex);
  frame.resize(frame.size() + example.data_bytes);
  return frame;
}

Head head_of(const Bytes& frame) {
  Head head;
  EXPECT_EQ(decode_head(frame, head), Drop::none);
  return head;
}

void expect_head(const Bytes& frame, const Head& expected) {
  const Head head = head_of(frame);
  EXPECT_EQ(head.dst, expected.dst);
  EXPECT_EQ(head.src, expected.src);
  EXPECT_EQ(head.peer_index, expected.peer_index);
  EXPECT_EQ(head.type, expected.type);
}

// Returns the matching header of the examples from A to B.
template <class T>
T message_to_b(std::uint16_t seqnum) {
  T packet;
  packet.dst_endpoint = 0;
  packet.src_endpoint = 3;
  packet.seqnum = seqnum;
  packet.piggyack = 1;
  packet.match_info = kMatchInfo;
  packet.session = kSessionB;
  return packet;
}

TEST(golden, connect__request_from_unknown_index) {
  Head head = head_to_b(PacketType::connect);
  head.peer_index = kUnknownPeerIndex;
  Connect packet;
  packet.dst_endpoint = 0;
  packet.src_endpoint = 3;
  packet.src_dst_peer_index = 1;
  packet.src_session = kSessionA;
  packet.key_or_target_session = 0x12345678;
  packet.target_recv_seqnum_start = 1;
  packet.status = 11;  // meaningless in a request: not written
  expect_bytes(kConnectRequest, encoded([&](std::byte* out) { return encode_connect(out, head, packet); }));
  packet.status = 0;
  Connect got;
  ASSERT_EQ(decode_connect(arrived(kConnectRequest), got), Drop::none);
  EXPECT_EQ(got, packet);
  expect_head(arrived(kConnectRequest), head);
}

TEST(golden, connect__reply_accepted) {
  Connect packet;
  packet.dst_endpoint = 3;
  packet.src_endpoint = 0;
  packet.src_dst_peer_index = 7;
  packet.src_session = kSessionA;
  packet.key_or_target_session = kSessionB;
  packet.target_recv_seqnum_start = 1;
  packet.is_reply = true;
  const Head head = head_to_a(PacketType::connect);
  expect_bytes(kConnectReply, encoded([&](std::byte* out) { return encode_connect(out, head, packet); }));
  Connect got;
  ASSERT_EQ(decode_connect(arrived(kConnectReply), got), Drop::none);
  EXPECT_EQ(got, packet);
  expect_head(arrived(kConnectReply), head);
}

TEST(golden, eager__tiny_hello) {
  auto packet = message_to_b<Eager>(1);
  packet.length = 5;
  const Head head = head_to_b(PacketType::tiny);
  const Bytes data = from_text("hello");
  expect_bytes(kTiny, encoded([&](std::byte* out) { return encode_eager(out, head, packet); }), data);
  const Bytes frame = arrived(kTiny);
  Eager got;
  const std::byte* at = nullptr;
  ASSERT_EQ(decode_eager(frame, false, got, &at), Drop::none);
  EXPECT_EQ(got, packet);
  EXPECT_EQ(Bytes(at, at + got.length), data);
  expect_head(frame, head);
}

TEST(golden, eager__small_of_40_bytes) {
  auto packet = message_to_b<Eager>(2);
  packet.length = 40;
  const Head head = head_to_b(PacketType::small);
  const Bytes data = from_text("abcdefghijklmnopqrstuvwxyzabcdefghijklmn");
  expect_bytes(kSmall, encoded([&](std::byte* out) { return encode_eager(out, head, packet); }), data);
  const Bytes frame = arrived(kSmall);
  Eager got;
  const std::byte* at = nullptr;
  ASSERT_EQ(decode_eager(frame, false, got, &at), Drop::none);
  EXPECT_EQ(got, packet);
  EXPECT_EQ(Bytes(at, at + got.length), data);
  expect_head(frame, head);
}

void expect_medium(const Example& example, const Medium& packet) {
  const Head head = head_to_b(PacketType::medium);
  expect_bytes(example,
               encoded([&](std::byte* out) { return encode_medium(out, head, example.mode, packet); }));
  const Bytes frame = arrived(example);
  Medium got;
  const std::byte* at = nullptr;
  ASSERT_EQ(decode_medium(frame, example.mode, false, got, &at), Drop::none);
  EXPECT_EQ(got, packet);
  EXPECT_EQ(at, frame.data() + 48);
  expect_head(frame, head);
}

TEST(golden, medium__last_fragment_mxoe) {
  auto packet = message_to_b<Medium>(3);
  packet.length = 10000;
  packet.frag_length = 1808;
  packet.frag_seqnum = 2;
  packet.frag_pipeline = kMxoePipeline;
  expect_medium(kMediumMxoe, packet);
}

TEST(golden, medium__last_fragment_omx) {
  auto packet = message_to_b<Medium>(3);
  packet.length = 10000;
  packet.frag_length = 1808;
  packet.frag_seqnum = 1;
  expect_medium(kMediumOmx, packet);
}

TEST(golden, rndv__100000_bytes) {
  auto packet = message_to_b<Rndv>(4);
  packet.msg_length = 100000;
  packet.rdma_id = 0;
  packet.rdma_seqnum = 23;
  const Head head = head_to_b(PacketType::rndv);
  expect_bytes(kRndv, encoded([&](std::byte* out) { return encode_rndv(out, head, packet); }));
  Rndv got;
  const std::byte* tail = nullptr;
  ASSERT_EQ(decode_rndv(arrived(kRndv), false, got, &tail), Drop::none);
  EXPECT_EQ(got, packet);
  expect_head(arrived(kRndv), head);
}

void expect_pull(const Example& example, const Pull& packet) {
  const Head head = head_to_a(PacketType::pull);
  expect_bytes(example,
               encoded([&](std::byte* out) { return encode_pull(out, head, example.mode, packet); }));
  Pull got;
  ASSERT_EQ(decode_pull(arrived(example), example.mode, false, got), Drop::none);
  EXPECT_EQ(got, packet);
  expect_head(arrived(example), head);
}

Pull pull_from_a(std::uint32_t total) {
  Pull packet;
  packet.dst_endpoint = 3;
  packet.src_endpoint = 0;
  packet.session = kSessionA;
  packet.total_length = total;
  packet.rdma_seqnum = 23;
  packet.pull_handle = 0x23;
  packet.magic = kPullMagic;
  return packet;
}

TEST(golden, pull__second_block_mxoe) {
  Pull packet = pull_from_a(100000);
  packet.block_length = 32768;
  packet.frame_index = 8;
  expect_pull(kPullMxoe, packet);
}

TEST(golden, pull__second_block_omx) {
  Pull packet = pull_from_a(1000000);
  packet.block_length = 286976;
  packet.frame_index = 32;
  expect_pull(kPullOmx, packet);
}

void expect_pull_reply(const Example& example, const PullReply& packet) {
  const Head head = head_to_b(PacketType::pull_reply);
  Bytes own = encoded([&](std::byte* out) { return encode_pull_reply(out, head, packet); });
  EXPECT_EQ(load_be16(own.data() + 14), packet.src_endpoint << 8);
  store_be16(own.data() + 14, head.peer_index);  // undefined in the original (docs/spec/wire.md 2)
  expect_bytes(example, own);
  const Bytes frame = arrived(example);
  PullReply got;
  const std::byte* at = nullptr;
  ASSERT_EQ(decode_pull_reply(frame, false, got, &at), Drop::none);
  EXPECT_EQ(got.src_endpoint, head.peer_index >> 8);
  got.src_endpoint = packet.src_endpoint;
  EXPECT_EQ(got, packet);
  EXPECT_EQ(at, frame.data() + 32);
  expect_head(frame, head);
}

PullReply pull_reply(std::uint8_t seqnum, std::uint16_t length, std::uint32_t offset) {
  PullReply packet;
  packet.src_endpoint = 3;
  packet.frame_seqnum = seqnum;
  packet.frame_length = length;
  packet.msg_offset = offset;
  packet.pull_handle = 0x23;
  packet.magic = kPullMagic;
  return packet;
}

TEST(golden, pull_reply__frame_9_mxoe) {
  expect_pull_reply(kPullReplyMxoe, pull_reply(9, 4096, 36864));
}

TEST(golden, pull_reply__frame_33_omx) {
  expect_pull_reply(kPullReplyOmx, pull_reply(33, 8968, 295944));
}

TEST(golden, notify__first_numbered_packet) {
  Notify packet;
  packet.dst_endpoint = 3;
  packet.src_endpoint = 0;
  packet.session = kSessionA;
  packet.total_length = 100000;
  packet.rdma_id = 0;
  packet.rdma_seqnum = 23;
  packet.seqnum = 1;
  packet.piggyack = 5;
  const Head head = head_to_a(PacketType::notify);
  expect_bytes(kNotify, encoded([&](std::byte* out) { return encode_notify(out, head, packet); }));
  Notify got;
  ASSERT_EQ(decode_notify(arrived(kNotify), false, got), Drop::none);
  EXPECT_EQ(got, packet);
  expect_head(arrived(kNotify), head);
}

TEST(golden, truc__first_ack) {
  Truc packet;
  packet.dst_endpoint = 0;
  packet.src_endpoint = 3;
  packet.session = kSessionB;
  packet.seqnum = 2;
  packet.acknum = 1;
  packet.send_seq = 2;
  const Head head = head_to_b(PacketType::truc);
  expect_bytes(kTruc, encoded([&](std::byte* out) { return encode_truc(out, head, packet); }));
  Truc got;
  ASSERT_EQ(decode_truc(arrived(kTruc), false, got), Drop::none);
  EXPECT_EQ(got, packet);
  expect_head(arrived(kTruc), head);
}

TEST(golden, nack_lib__bad_session) {
  NackLib packet;
  packet.src_endpoint = 0;
  packet.dst_endpoint = 3;
  packet.code = NackCode::bad_session;
  packet.peer_index = 1;
  packet.seqnum = 1;
  const Head head = head_to_a(PacketType::nack_lib);
  expect_bytes(kNackLib, encoded([&](std::byte* out) { return encode_nack_lib(out, head, packet); }));
  NackLib got;
  ASSERT_EQ(decode_nack_lib(arrived(kNackLib), false, got), Drop::none);
  EXPECT_EQ(got, packet);
  expect_head(arrived(kNackLib), head);
}

TEST(golden, nack_mcp__bad_rdma_window) {
  NackMcp packet;
  packet.src_endpoint = 0;
  packet.code = NackCode::bad_rdma_window;
  packet.pull_handle = 0x23;
  packet.magic = kPullMagic;
  const Head head = head_to_b(PacketType::nack_mcp);
  expect_bytes(kNackMcp, encoded([&](std::byte* out) { return encode_nack_mcp(out, head, packet); }));
  NackMcp got;
  ASSERT_EQ(decode_nack_mcp(arrived(kNackMcp), false, got), Drop::none);
  EXPECT_EQ(got, packet);
  expect_head(arrived(kNackMcp), head);
}

TEST(golden, host_query__first_magic) {
  Head head = head_to_b(PacketType::host_query);
  head.peer_index = 0;
  const HostQuery packet{.src_dst_peer_index = 1, .magic = kHostQueryMagic};
  expect_bytes(kHostQuery, encoded([&](std::byte* out) { return encode_host_query(out, head, packet); }));
  HostQuery got;
  ASSERT_EQ(decode_host_query(arrived(kHostQuery), got), Drop::none);
  EXPECT_EQ(got, packet);
  expect_head(arrived(kHostQuery), head);
}

TEST(golden, host_reply__name_of_seven_letters) {
  Head head = head_to_a(PacketType::host_reply);
  head.peer_index = 0;
  const HostReply packet{
      .src_dst_peer_index = 7, .magic = kHostQueryMagic, .name_length = 8, .name = "node2:0"};
  expect_bytes(kHostReply, encoded([&](std::byte* out) { return encode_host_reply(out, head, packet); }));
  const Bytes frame = arrived(kHostReply);
  HostReply got;
  ASSERT_EQ(decode_host_reply(frame, got), Drop::none);
  EXPECT_EQ(got.src_dst_peer_index, 7);
  EXPECT_EQ(got.magic, kHostQueryMagic);
  EXPECT_EQ(got.name_length, 8);
  EXPECT_STREQ(got.name, "node2:0");
  expect_head(frame, head);
}

TEST(golden, discovery__serial) {
  expect_bytes(kDiscovery, encoded([](std::byte* out) { return encode_discovery(out, kNicA, 0x2b9a11c3); }));
  const Bytes frame = arrived(kDiscovery);
  NicId nic = 0;
  std::uint32_t serial = 0;
  ASSERT_EQ(decode_discovery(frame, nic, serial), Drop::none);
  EXPECT_EQ(nic, kNicA);
  EXPECT_EQ(serial, 0x2b9a11c3u);
  expect_head(frame, {.dst = kBroadcastNic, .src = kNicA, .peer_index = 0, .type = PacketType::raw});
}

// For any prefix of a frame a decoder returns without reading beyond it. A prefix that still holds what the
// length fields announce decodes like the whole.
TEST(golden, truncation__every_length_of_every_example) {
  for (const Example* example : kExamples) {
    const Bytes frame = arrived(*example);
    const std::size_t covered = covered_length(frame, example->mode);
    ASSERT_GT(covered, 0u) << example->name;
    const bool raw = example == &kDiscovery;  // no length fields; 44 bytes are read
    const std::size_t needed = raw ? 44 : covered;
    for (std::size_t size = 0; size <= frame.size(); size++) {
      const Bytes prefix = cut(frame, size);
      const Drop drop = decode_any(prefix, example->mode, false);
      EXPECT_EQ(drop == Drop::none, size >= needed) << example->name << " cut to " << size;
      EXPECT_THAT(drop, testing::AnyOf(Drop::none, Drop::frame_too_short, Drop::truncated));
      if (!raw) {
        EXPECT_EQ(covered_length(prefix, example->mode), size >= needed ? covered : 0);
      }
    }
  }
}

// A frame with a single wrong byte may be accepted or not, but never does harm.
TEST(golden, corruption__every_byte_of_every_example) {
  for (const Example* example : kExamples) {
    const Bytes original = arrived(*example);
    const std::size_t header = std::min<std::size_t>(original.size(), 80);
    for (std::size_t at = 0; at < header; at++) {
      for (unsigned value = 0; value < 256; value++) {
        Bytes frame = original;
        frame[at] = static_cast<std::byte>(value);
        for (Mode mode : {Mode::mxoe, Mode::omx}) {
          for (bool extended : {false, true}) decode_any(frame, mode, extended);
          EXPECT_LE(covered_length(frame, mode), frame.size());
          checksum_verify(frame, mode);
        }
      }
    }
  }
}

}  // namespace
}  // namespace omx::wire::test
