// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "examples.h"
#include "wire_util.h"

namespace omx::wire::test {
namespace {

Drop truc(const Bytes& frame, bool extended, Truc* out = nullptr) {
  Truc packet;
  const Drop drop = decode_truc(frame, extended, packet);
  if (out) *out = packet;
  return drop;
}

TEST(codec_control, decode_truc__short_header_and_other_type) {
  EXPECT_EQ(truc(cut(from_hex(kTruc.hex), 43), false), Drop::frame_too_short);
  EXPECT_EQ(truc(from_hex(kNotify.hex), false), Drop::bad_type);
}

TEST(codec_control, decode_truc__data_length) {
  Bytes frame = from_hex(kTruc.hex);
  frame[20] = std::byte{15};
  EXPECT_EQ(truc(frame, false), Drop::bad_length);
  frame[20] = std::byte{32};  // 28 + 32 = 60: the frame just holds it
  EXPECT_EQ(truc(frame, false), Drop::none);
  frame[20] = std::byte{33};
  EXPECT_EQ(truc(frame, false), Drop::truncated);
}

TEST(codec_control, decode_truc__data_that_is_no_ack) {
  Bytes frame = from_hex(kTruc.hex);
  frame[28] = std::byte{0x56};
  EXPECT_EQ(truc(frame, false), Drop::bad_type);
}

TEST(codec_control, decode_truc__two_sessions) {
  Bytes frame = from_hex(kTruc.hex);
  frame[35] ^= std::byte{1};
  EXPECT_EQ(truc(frame, false), Drop::bad_type);
}

TEST(codec_control, truc__sack_only_between_extended_peers) {
  Truc packet;
  packet.has_sack = true;
  for (std::uint8_t i = 0; i < 32; i++) packet.sack[i] = static_cast<std::uint8_t>(i + 1);
  const Bytes frame =
      encoded([&](std::byte* out) { return encode_truc(out, head_to_a(PacketType::truc), packet); });
  EXPECT_EQ(frame.size(), 76u);
  EXPECT_EQ(load8(frame.data() + 20), 48);
  EXPECT_EQ(load8(frame.data() + 44), 1);
  Truc got;
  ASSERT_EQ(truc(frame, true, &got), Drop::none);
  EXPECT_EQ(got, packet);
  ASSERT_EQ(truc(frame, false, &got), Drop::none);
  EXPECT_FALSE(got.has_sack);
  EXPECT_EQ(truc(cut(frame, 75), true), Drop::truncated);
}

TEST(codec_control, decode_truc__data_too_short_for_a_sack) {
  Truc packet;
  packet.has_sack = true;
  Bytes frame =
      encoded([&](std::byte* out) { return encode_truc(out, head_to_a(PacketType::truc), packet); });
  frame[20] = std::byte{47};
  Truc got;
  ASSERT_EQ(truc(frame, true, &got), Drop::none);
  EXPECT_FALSE(got.has_sack);
}

TEST(codec_control, decode_truc__trailer_needs_room) {
  Bytes frame = cut(from_hex(kTruc.hex), 47);
  frame[19] = std::byte{kFlagChecksum};
  EXPECT_EQ(truc(frame, false), Drop::none);
  EXPECT_EQ(truc(frame, true), Drop::truncated);
  frame.resize(48);
  EXPECT_EQ(truc(frame, true), Drop::none);
}

Drop nack_lib(const Bytes& frame, bool extended, NackLib* out = nullptr) {
  NackLib packet;
  const Drop drop = decode_nack_lib(frame, extended, packet);
  if (out) *out = packet;
  return drop;
}

TEST(codec_control, decode_nack_lib__short_header_and_other_type) {
  EXPECT_EQ(nack_lib(cut(from_hex(kNackLib.hex), 31), false), Drop::frame_too_short);
  EXPECT_EQ(nack_lib(from_hex(kNackMcp.hex), false), Drop::bad_type);
}

TEST(codec_control, decode_nack_lib__unknown_code_is_handed_on) {
  Bytes frame = from_hex(kNackLib.hex);
  frame[19] = std::byte{200};
  NackLib packet;
  ASSERT_EQ(nack_lib(frame, false, &packet), Drop::none);
  EXPECT_EQ(static_cast<int>(packet.code), 200);
}

TEST(codec_control, decode_nack_lib__flags_in_b2) {
  Bytes frame = cut(from_hex(kNackLib.hex), 35);
  frame[18] = std::byte{kFlagChecksum | kFlagUrgent};
  NackLib packet;
  ASSERT_EQ(nack_lib(frame, false, &packet), Drop::none);
  EXPECT_EQ(packet.flags, 0);
  EXPECT_EQ(nack_lib(frame, true), Drop::truncated);
  frame.resize(36);
  ASSERT_EQ(nack_lib(frame, true, &packet), Drop::none);
  EXPECT_EQ(packet.flags, kFlagChecksum | kFlagUrgent);
}

Drop nack_mcp(const Bytes& frame, bool extended, NackMcp* out = nullptr) {
  NackMcp packet;
  const Drop drop = decode_nack_mcp(frame, extended, packet);
  if (out) *out = packet;
  return drop;
}

TEST(codec_control, decode_nack_mcp__short_header_and_other_type) {
  EXPECT_EQ(nack_mcp(cut(from_hex(kNackMcp.hex), 31), false), Drop::frame_too_short);
  EXPECT_EQ(nack_mcp(from_hex(kNackLib.hex), false), Drop::bad_type);
}

TEST(codec_control, nack_mcp__who_refuses_is_in_b4) {
  Bytes frame = from_hex(kNackMcp.hex);
  frame[20] = std::byte{0xAB};
  NackMcp packet;
  ASSERT_EQ(nack_mcp(frame, false, &packet), Drop::none);
  EXPECT_EQ(packet.refusing_endpoint, 0xAB);
  EXPECT_EQ(packet.src_endpoint, 0) << "the puller's own number";
  const Head head = head_to_b(PacketType::nack_mcp);
  const Bytes again = encoded([&](std::byte* out) { return encode_nack_mcp(out, head, packet); });
  EXPECT_EQ(again[20], std::byte{0xAB});
}

TEST(codec_control, decode_nack_mcp__flags_in_b2) {
  Bytes frame = cut(from_hex(kNackMcp.hex), 35);
  frame[18] = std::byte{kFlagChecksum};
  NackMcp packet;
  ASSERT_EQ(nack_mcp(frame, false, &packet), Drop::none);
  EXPECT_EQ(packet.flags, 0);
  EXPECT_EQ(nack_mcp(frame, true), Drop::truncated);
  frame.resize(36);
  ASSERT_EQ(nack_mcp(frame, true, &packet), Drop::none);
  EXPECT_EQ(packet.flags, kFlagChecksum);
}

Bytes probe_frame(std::uint32_t size, std::size_t bytes) {
  Probe packet;
  packet.size = 60;
  Bytes frame =
      encoded([&](std::byte* out) { return encode_probe(out, head_to_a(PacketType::probe), packet); });
  store_be32(frame.data() + 24, size);
  frame.resize(bytes);
  return frame;
}

Drop probe(const Bytes& frame) {
  Probe packet;
  return decode_probe(frame, packet);
}

TEST(codec_control, decode_probe__size_range) {
  EXPECT_EQ(probe(probe_frame(59, 70000)), Drop::bad_length);
  EXPECT_EQ(probe(probe_frame(60, 60)), Drop::none);
  EXPECT_EQ(probe(probe_frame(65549, 65549)), Drop::none);
  EXPECT_EQ(probe(probe_frame(65550, 70000)), Drop::bad_length);
  EXPECT_EQ(probe(probe_frame(0xffffffff, 70000)), Drop::bad_length);
}

TEST(codec_control, decode_probe__frame_shorter_than_it_says) {
  EXPECT_EQ(probe(probe_frame(9014, 9013)), Drop::truncated);
  EXPECT_EQ(probe(probe_frame(60, 47)), Drop::frame_too_short);
}

TEST(codec_control, decode_probe__other_type) {
  Bytes frame = probe_frame(60, 60);
  frame[16] = std::byte{63};
  EXPECT_EQ(probe(frame), Drop::bad_type);
}

TEST(codec_control, encode_probe__layout) {
  Probe packet;
  packet.dst_endpoint = 3;
  packet.src_endpoint = 5;
  packet.flags = kFlagUrgent;
  packet.is_reply = true;
  packet.session = 0x01020304;
  packet.size = 0x2336;
  packet.cookie = 0x0a0b0c0d;
  const Bytes frame =
      encoded([&](std::byte* out) { return encode_probe(out, head_to_a(PacketType::probe), packet); });
  EXPECT_EQ(to_hex(Frame(frame).subspan(16)),
            "40 03 05 01 01 02 03 04 00 00 23 36 0a 0b 0c 0d\n"
            "01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n");
}

}  // namespace
}  // namespace omx::wire::test
