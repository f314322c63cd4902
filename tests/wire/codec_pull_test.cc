// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "examples.h"
#include "wire_util.h"

namespace omx::wire::test {
namespace {

Drop pull(const Bytes& frame, Mode mode, bool extended, Pull* out = nullptr) {
  Pull packet;
  const Drop drop = decode_pull(frame, mode, extended, packet);
  if (out) *out = packet;
  return drop;
}

TEST(codec_pull, decode_pull__short_header) {
  EXPECT_EQ(pull(cut(from_hex(kPullMxoe.hex), 47), Mode::mxoe, false), Drop::frame_too_short);
  EXPECT_EQ(pull(cut(from_hex(kPullOmx.hex), 59), Mode::omx, false), Drop::frame_too_short);
}

TEST(codec_pull, decode_pull__other_type) {
  EXPECT_EQ(pull(from_hex(kNotify.hex), Mode::mxoe, false), Drop::bad_type);
}

TEST(codec_pull, decode_pull__trailer_needs_room) {
  Bytes frame = from_hex(kPullOmx.hex);
  frame[19] = std::byte{kFlagChecksum};
  EXPECT_EQ(pull(frame, Mode::omx, false), Drop::none);
  EXPECT_EQ(pull(frame, Mode::omx, true), Drop::truncated);
  frame.resize(63);
  EXPECT_EQ(pull(frame, Mode::omx, true), Drop::truncated);
  frame.resize(64);
  EXPECT_EQ(pull(frame, Mode::omx, true), Drop::none);
}

TEST(codec_pull, pull__reply_max_only_between_extended_peers_in_omx) {
  Pull packet;
  packet.reply_max = 8952;
  const Head head = head_to_a(PacketType::pull);
  const Bytes omx = encoded([&](std::byte* out) { return encode_pull(out, head, Mode::omx, packet); });
  EXPECT_EQ(load_be16(omx.data() + 34), 8952);
  Pull got;
  ASSERT_EQ(pull(omx, Mode::omx, true, &got), Drop::none);
  EXPECT_EQ(got.reply_max, 8952);
  ASSERT_EQ(pull(omx, Mode::omx, false, &got), Drop::none);
  EXPECT_EQ(got.reply_max, 0);

  const Bytes mxoe = encoded([&](std::byte* out) { return encode_pull(out, head, Mode::mxoe, packet); });
  ASSERT_EQ(pull(mxoe, Mode::mxoe, true, &got), Drop::none);
  EXPECT_EQ(got.reply_max, 0);
}

TEST(codec_pull, decode_pull__pads_are_ignored) {
  Bytes frame = from_hex(kPullOmx.hex);
  frame[33] = frame[34] = frame[35] = std::byte{0xee};
  Pull packet;
  ASSERT_EQ(pull(frame, Mode::omx, false, &packet), Drop::none);
  EXPECT_EQ(packet.rdma_seqnum, 23);
  EXPECT_EQ(packet.reply_max, 0);
}

Drop pull_reply(const Bytes& frame, bool extended, PullReply* out = nullptr) {
  PullReply packet;
  const std::byte* data = nullptr;
  const Drop drop = decode_pull_reply(frame, extended, packet, &data);
  if (out) *out = packet;
  return drop;
}

TEST(codec_pull, decode_pull_reply__empty) {
  Bytes frame = from_hex(kPullReplyMxoe.hex);
  frame.resize(60);
  store_be16(frame.data() + 18, 0);
  EXPECT_EQ(pull_reply(frame, false), Drop::bad_length);
}

TEST(codec_pull, decode_pull_reply__one_byte) {
  Bytes frame = from_hex(kPullReplyMxoe.hex);
  store_be16(frame.data() + 18, 1);
  EXPECT_EQ(pull_reply(frame, false), Drop::truncated);
  frame.resize(33);
  EXPECT_EQ(pull_reply(frame, false), Drop::none);
}

TEST(codec_pull, decode_pull_reply__other_type_and_short_header) {
  EXPECT_EQ(pull_reply(from_hex(kTruc.hex), false), Drop::bad_type);
  EXPECT_EQ(pull_reply(cut(from_hex(kPullReplyMxoe.hex), 31), false), Drop::frame_too_short);
}

TEST(codec_pull, encode_pull_reply__source_and_flags_replace_the_head_index) {
  PullReply packet;
  packet.frame_length = 1;
  packet.src_endpoint = 0xAB;
  packet.flags = kFlagUrgent;
  Head head = head_to_b(PacketType::pull_reply);
  head.peer_index = 0x1234;
  Bytes frame = encoded([&](std::byte* out) { return encode_pull_reply(out, head, packet); });
  EXPECT_EQ(load_be16(frame.data() + 14), 0xAB00 | kFlagUrgent);
  packet = {.frame_length = 1};
  frame = encoded([&](std::byte* out) { return encode_pull_reply(out, head, packet); });
  EXPECT_EQ(load_be16(frame.data() + 14), 0) << "to any peer";
}

TEST(codec_pull, decode_pull_reply__head_index_of_a_reference_peer_is_garbage) {
  Bytes frame = from_hex(kPullReplyMxoe.hex);
  frame.resize(frame.size() + kPullReplyMxoe.data_bytes);
  frame[15] = std::byte{0xff};
  PullReply packet;
  ASSERT_EQ(pull_reply(frame, false, &packet), Drop::none);
  EXPECT_EQ(packet.flags, 0);
  EXPECT_EQ(pull_reply(frame, true), Drop::truncated);  // the checksum flag requires four more bytes
}

Drop notify(const Bytes& frame, bool extended) {
  Notify packet;
  return decode_notify(frame, extended, packet);
}

TEST(codec_pull, decode_notify__short_header_and_other_type) {
  EXPECT_EQ(notify(cut(from_hex(kNotify.hex), 39), false), Drop::frame_too_short);
  EXPECT_EQ(notify(from_hex(kTruc.hex), false), Drop::bad_type);
}

TEST(codec_pull, decode_notify__page_only_with_its_flag) {
  Notify packet;
  packet.page = 0x1234;
  for (const bool flag : {true, false}) {
    packet.flags = flag ? kFlagPage : 0;
    const Bytes frame =
        encoded([&](std::byte* out) { return encode_notify(out, head_to_b(PacketType::notify), packet); });
    EXPECT_EQ(load_be16(frame.data() + 30), flag ? 0x1234 : 0);
    Notify got;
    ASSERT_EQ(decode_notify(frame, true, got), Drop::none);
    EXPECT_EQ(got.page, flag ? 0x1234 : 0);
    ASSERT_EQ(decode_notify(frame, false, got), Drop::none);
    EXPECT_EQ(got.page, 0);
  }
}

TEST(codec_pull, decode_notify__trailer_needs_room) {
  Bytes frame = cut(from_hex(kNotify.hex), 43);
  frame[19] = std::byte{kFlagChecksum};
  EXPECT_EQ(notify(frame, false), Drop::none);
  EXPECT_EQ(notify(frame, true), Drop::truncated);
  frame.resize(44);
  EXPECT_EQ(notify(frame, true), Drop::none);
}

}  // namespace
}  // namespace omx::wire::test
