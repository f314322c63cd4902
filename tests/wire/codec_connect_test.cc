// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "examples.h"
#include "wire_util.h"

namespace omx::wire::test {
namespace {

Drop connect(const Bytes& frame, Connect* out = nullptr) {
  Connect packet;
  const Drop drop = decode_connect(frame, packet);
  if (out) *out = packet;
  return drop;
}

Connect extended_request() {
  Connect packet;
  packet.dst_endpoint = 0;
  packet.src_endpoint = 3;
  packet.src_dst_peer_index = 1;
  packet.src_session = kSessionA;
  packet.key_or_target_session = 0x12345678;
  packet.target_recv_seqnum_start = 1;
  packet.ext.present = true;
  packet.ext.mode = Mode::omx;
  packet.ext.features = kFeatureMark | kFeatureSack;
  packet.ext.max_frame = 9014;
  packet.ext.pull_frames = 32;
  packet.ext.eager_frames = 256;
  packet.ext.generation = 0x11223344;
  packet.ext.peer_generation = 5;
  packet.ext.peer_generation_in_use = true;
  return packet;
}

Bytes frame_of(const Connect& packet) {
  return encoded([&](std::byte* out) { return encode_connect(out, head_to_b(PacketType::connect), packet); });
}

// Corrects the checksum of a changed block.
void seal(Bytes& frame) {
  const std::size_t crc_at = 48 + load8(frame.data() + 53) - 4u;
  store_be32(frame.data() + crc_at, crc32c(0, frame.data() + 12, crc_at - 12));
}

TEST(codec_connect, encode_connect__extension_layout) {
  const Bytes frame = frame_of(extended_request());
  ASSERT_EQ(frame.size(), 76u);
  EXPECT_EQ(load8(frame.data() + 20), 44);
  EXPECT_EQ(to_hex(Frame(frame).subspan(48, 24)),
            "4f 4d 58 45 01 1c 00 09 00 00 23 36 01 00 20 01\n"
            "11 22 33 44 80 00 00 05 ");
  EXPECT_EQ(load_be32(frame.data() + 72), crc32c(0, frame.data() + 12, 60));
}

TEST(codec_connect, connect__extension_round_trip) {
  Connect packet = extended_request();
  packet.ext.generation = 0x7fffffff;
  packet.ext.peer_generation_in_use = false;
  packet.ext.version = 9;
  Connect got;
  ASSERT_EQ(connect(frame_of(packet), &got), Drop::none);
  EXPECT_EQ(got, packet);
}

Connect request_with_rails() {
  Connect packet = extended_request();
  packet.ext.features |= kFeatureRails;
  packet.ext.rails = {3, {0x020000000001, 0x020000000002, 0x020000000003}};
  return packet;
}

TEST(codec_connect, encode_connect__rails_layout) {
  Connect packet = request_with_rails();
  EXPECT_EQ(frame_of(packet).at(53), std::byte{28 + 28});
  EXPECT_EQ(frame_of(packet).at(72), std::byte{3});
  EXPECT_EQ(mac_load(frame_of(packet).data() + 76 + 6), 0x020000000002U);
  EXPECT_EQ(mac_load(frame_of(packet).data() + 76 + 18), 0U);
  packet.ext.features |= kFeatureBulk;  // the bulk path's address stands before the boards
  packet.ext.bulk_address.port = 27456;
  packet.ext.bulk_address.frame = 1472;
  EXPECT_EQ(frame_of(packet).at(53), std::byte{28 + 20 + 28});
  EXPECT_EQ(frame_of(packet).at(92), std::byte{3});
  Connect out;
  EXPECT_EQ(connect(frame_of(packet), &out), Drop::none);
  EXPECT_EQ(out, packet);
}

TEST(codec_connect, decode_connect__rails_that_nobody_can_have) {
  const auto drop_of = [](auto change) {
    Connect packet = request_with_rails();
    change(packet.ext.rails);
    return connect(frame_of(packet));
  };
  EXPECT_EQ(drop_of([](RailNics&) {}), Drop::none);
  EXPECT_EQ(drop_of([](RailNics& r) { r.count = 0; }), Drop::bad_length);
  EXPECT_EQ(drop_of([](RailNics& r) { r.count = 1; }), Drop::bad_length);
  EXPECT_EQ(drop_of([](RailNics& r) { r.nics[1] = 0; }), Drop::bad_length);
  EXPECT_EQ(drop_of([](RailNics& r) { r.nics[2] = 0x010000000005; }), Drop::bad_length);
  EXPECT_EQ(drop_of([](RailNics& r) { r.nics[2] = r.nics[0]; }), Drop::bad_length);
  // A count above the maximum.
  Bytes frame = frame_of(request_with_rails());
  frame[72] = std::byte{5};
  store_be32(frame.data() + 100, crc32c(0, frame.data() + 12, 100 - 12));
  EXPECT_EQ(connect(frame), Drop::bad_length);
  // Boards are announced, but the block is too short for them.
  frame = frame_of(extended_request());
  frame[54] = std::byte{kFeatureRails >> 8};
  store_be32(frame.data() + 72, crc32c(0, frame.data() + 12, 72 - 12));
  EXPECT_EQ(connect(frame), Drop::bad_length);
}

TEST(codec_connect, decode_connect__short_header_and_other_type) {
  EXPECT_EQ(connect(cut(from_hex(kConnectRequest.hex), 47)), Drop::frame_too_short);
  EXPECT_EQ(connect(from_hex(kTruc.hex)), Drop::bad_type);
}

TEST(codec_connect, decode_connect__data_length) {
  Bytes frame = from_hex(kConnectRequest.hex);
  frame[20] = std::byte{15};
  EXPECT_EQ(connect(frame), Drop::bad_length);
  frame[20] = std::byte{28};  // 32 + 28 = 60: the frame just holds it
  EXPECT_EQ(connect(frame), Drop::none);
  frame[20] = std::byte{29};
  EXPECT_EQ(connect(frame), Drop::truncated);
}

TEST(codec_connect, decode_connect__any_reply_value_but_zero) {
  Bytes frame = from_hex(kConnectReply.hex);
  frame[42] = std::byte{0x80};
  frame[44] = std::byte{11};
  Connect packet;
  ASSERT_EQ(connect(frame, &packet), Drop::none);
  EXPECT_TRUE(packet.is_reply);
  EXPECT_EQ(packet.status, 11);
}

TEST(codec_connect, decode_connect__status_of_a_request_is_a_pad) {
  Bytes frame = from_hex(kConnectRequest.hex);
  frame[44] = std::byte{11};
  Connect packet;
  ASSERT_EQ(connect(frame, &packet), Drop::none);
  EXPECT_EQ(packet.status, 0);
}

TEST(codec_connect, decode_connect__foreign_data_are_not_our_block) {
  Bytes frame = frame_of(extended_request());
  store_be32(frame.data() + 48, 0x12345678);
  Connect packet;
  ASSERT_EQ(connect(frame, &packet), Drop::none);
  EXPECT_FALSE(packet.ext.present);
  EXPECT_EQ(packet.ext, ConnectExt{});
}

TEST(codec_connect, decode_connect__data_too_short_for_a_block) {
  Bytes frame = frame_of(extended_request());
  frame[20] = std::byte{43};
  store_be32(frame.data() + 48, 0x12345678);
  Connect packet;
  ASSERT_EQ(connect(frame, &packet), Drop::none);
  EXPECT_FALSE(packet.ext.present);
}

// Otherwise one damaged bit would make the sender a peer without checksums (found by simulation, seed 5944).
TEST(codec_connect, decode_connect__damage_does_not_hide_the_block) {
  const Bytes frame = frame_of(extended_request());
  for (std::size_t bit = 20 * 8; bit < 52 * 8; bit++) {
    if (bit >= 21 * 8 && bit < 48 * 8) continue;
    Bytes damaged = frame;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_NE(connect(damaged), Drop::none) << bit;
  }
}

TEST(codec_connect, decode_connect__block_that_the_length_does_not_cover) {
  Bytes frame = frame_of(extended_request());
  frame[20] = std::byte{16};
  EXPECT_EQ(connect(frame), Drop::bad_checksum);
}

TEST(codec_connect, decode_connect__any_damaged_byte_of_the_block) {
  const Bytes frame = frame_of(extended_request());
  for (std::size_t at = 52; at < frame.size(); at++) {
    Bytes damaged = frame;
    damaged[at] ^= std::byte{0x10};
    EXPECT_NE(connect(damaged), Drop::none) << at;
  }
}

TEST(codec_connect, decode_connect__checksum_covers_the_fields_before_the_block) {
  Bytes frame = frame_of(extended_request());
  frame[33] ^= std::byte{1};  // a session bit
  EXPECT_EQ(connect(frame), Drop::bad_checksum);
}

TEST(codec_connect, decode_connect__checksum_leaves_the_addresses_out) {
  Bytes frame = frame_of(extended_request());
  frame[0] ^= std::byte{1};
  frame[11] ^= std::byte{1};
  EXPECT_EQ(connect(frame), Drop::none);
}

TEST(codec_connect, decode_connect__block_smaller_than_version_one) {
  Bytes frame = frame_of(extended_request());
  frame[53] = std::byte{27};
  seal(frame);
  EXPECT_EQ(connect(frame), Drop::bad_length);
}

TEST(codec_connect, decode_connect__block_larger_than_the_data) {
  Bytes frame = frame_of(extended_request());
  frame.resize(100);
  frame[53] = std::byte{29};
  seal(frame);
  EXPECT_EQ(connect(frame), Drop::bad_length);
}

TEST(codec_connect, decode_connect__longer_block_of_a_newer_version) {
  Bytes frame = frame_of(extended_request());
  frame.resize(84);
  frame[20] = std::byte{52};
  frame[52] = std::byte{2};
  frame[53] = std::byte{36};
  frame[74] = std::byte{0x77};  // a field that this version does not know
  seal(frame);
  Connect packet;
  ASSERT_EQ(connect(frame, &packet), Drop::none);
  Connect expected = extended_request();
  expected.ext.version = 2;
  EXPECT_EQ(packet, expected);
  frame[74] = std::byte{0x78};
  EXPECT_EQ(connect(frame), Drop::bad_checksum);
}

TEST(codec_connect, decode_connect__data_behind_the_block) {
  Bytes frame = frame_of(extended_request());
  frame.resize(90, std::byte{0x33});
  frame[20] = std::byte{54};
  seal(frame);
  Connect packet;
  ASSERT_EQ(connect(frame, &packet), Drop::none);
  EXPECT_TRUE(packet.ext.present);
}

TEST(codec_connect, decode_connect__frame_too_small_for_a_small) {
  Connect packet = extended_request();
  packet.ext.max_frame = 187;
  EXPECT_EQ(connect(frame_of(packet)), Drop::bad_length);
  packet.ext.max_frame = 188;
  EXPECT_EQ(connect(frame_of(packet)), Drop::none);
}

TEST(codec_connect, decode_connect__windows_of_zero) {
  Connect packet = extended_request();
  packet.ext.pull_frames = 0;
  EXPECT_EQ(connect(frame_of(packet)), Drop::bad_length);
  packet = extended_request();
  packet.ext.eager_frames = 0;
  EXPECT_EQ(connect(frame_of(packet)), Drop::bad_length);
}

TEST(codec_connect, decode_connect__unknown_mode_is_handed_on) {
  Connect packet = extended_request();
  packet.ext.mode = static_cast<Mode>(9);
  Connect got;
  ASSERT_EQ(connect(frame_of(packet), &got), Drop::none);
  EXPECT_EQ(static_cast<int>(got.ext.mode), 9);
}

}  // namespace
}  // namespace omx::wire::test
