// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "examples.h"
#include "wire_util.h"

namespace omx::wire::test {
namespace {

Drop eager(const Bytes& frame, bool extended, Eager* out = nullptr) {
  Eager packet;
  const std::byte* data = nullptr;
  const Drop drop = decode_eager(frame, extended, packet, &data);
  if (out) *out = packet;
  return drop;
}

Drop medium(const Bytes& frame, Mode mode, bool extended, Medium* out = nullptr) {
  Medium packet;
  const std::byte* data = nullptr;
  const Drop drop = decode_medium(frame, mode, extended, packet, &data);
  if (out) *out = packet;
  return drop;
}

Bytes eager_frame(PacketType type, std::uint16_t length, std::uint8_t flags, std::size_t data_bytes) {
  Eager packet;
  packet.flags = flags;
  packet.length = std::min<std::uint16_t>(length, type == PacketType::tiny ? kTinyMax : kSmallMax);
  Bytes frame = encoded([&](std::byte* out) { return encode_eager(out, head_to_b(type), packet); });
  store_be16(frame.data() + 20, length);
  frame.resize(frame.size() + data_bytes);
  return frame;
}

TEST(codec_message, decode_eager__longest_tiny_and_small) {
  EXPECT_EQ(eager(eager_frame(PacketType::tiny, 32, 0, 32), false), Drop::none);
  EXPECT_EQ(eager(eager_frame(PacketType::small, 128, 0, 128), false), Drop::none);
}

TEST(codec_message, decode_eager__small_may_be_short) {
  EXPECT_EQ(eager(eager_frame(PacketType::small, 0, 0, 0), false), Drop::none);
}

TEST(codec_message, decode_eager__too_long) {
  EXPECT_EQ(eager(eager_frame(PacketType::tiny, 33, 0, 200), false), Drop::bad_length);
  EXPECT_EQ(eager(eager_frame(PacketType::small, 129, 0, 200), false), Drop::bad_length);
  EXPECT_EQ(eager(eager_frame(PacketType::small, 0xffff, 0, 200), false), Drop::bad_length);
}

TEST(codec_message, decode_eager__truncated_data) {
  EXPECT_EQ(eager(eager_frame(PacketType::small, 100, 0, 99), false), Drop::truncated);
}

TEST(codec_message, decode_eager__short_header) {
  EXPECT_EQ(eager(Bytes(39), false), Drop::frame_too_short);
  EXPECT_EQ(eager(Bytes(), false), Drop::frame_too_short);
}

TEST(codec_message, decode_eager__other_type) {
  Bytes frame = from_hex(kTiny.hex);
  frame[16] = std::byte{39};
  EXPECT_EQ(eager(frame, false), Drop::bad_type);
}

TEST(codec_message, decode_eager__flags_of_a_reference_peer_are_garbage) {
  Bytes frame = from_hex(kTiny.hex);
  frame[19] = std::byte{0xff};
  Eager packet;
  ASSERT_EQ(eager(frame, false, &packet), Drop::none);
  EXPECT_EQ(packet.flags, 0);
  EXPECT_EQ(packet.ext, HeaderExt{});
}

TEST(codec_message, decode_eager__extension_needs_room) {
  const Bytes frame = eager_frame(PacketType::small, 100, kFlagHeaderExt, 100);
  EXPECT_EQ(frame.size(), 40u + 16 + 100);
  EXPECT_EQ(eager(frame, true), Drop::none);
  EXPECT_EQ(eager(cut(frame, frame.size() - 1), true), Drop::truncated);
  EXPECT_EQ(eager(cut(frame, 41), true), Drop::truncated);
}

TEST(codec_message, decode_eager__trailer_needs_room) {
  const Bytes frame = eager_frame(PacketType::small, 100, kFlagChecksum, 104);
  EXPECT_EQ(eager(frame, true), Drop::none);
  EXPECT_EQ(eager(cut(frame, frame.size() - 1), true), Drop::truncated);
  EXPECT_EQ(eager(cut(frame, frame.size() - 4), false), Drop::none);
}

TEST(codec_message, header_ext__layout) {
  Eager packet;
  packet.flags = kFlagHeaderExt;
  packet.ext = {.message_class = 0x12, .data_valid = 1, .data = 0x0102030405060708};
  const Bytes header =
      encoded([&](std::byte* out) { return encode_eager(out, head_to_b(PacketType::tiny), packet); });
  ASSERT_EQ(header.size(), 56u);
  EXPECT_EQ(to_hex(Frame(header).subspan(40)), "12 01 00 00 00 00 00 00 01 02 03 04 05 06 07 08\n");
}

Bytes medium_frame(Mode mode, std::uint32_t length, std::uint16_t frag_length, std::uint8_t seqnum,
                   std::uint8_t pipeline, std::uint16_t unit, std::uint8_t flags = 0) {
  Medium packet;
  packet.flags = flags;
  packet.length = length;
  packet.frag_length = frag_length;
  packet.frag_seqnum = seqnum;
  packet.frag_pipeline = pipeline;
  packet.frag_unit = unit;
  Bytes frame = encoded(
      [&](std::byte* out) { return encode_medium(out, head_to_b(PacketType::medium), mode, packet); });
  frame.resize(frame.size() + frag_length + (flags & kFlagChecksum ? 4 : 0));
  return frame;
}

TEST(codec_message, decode_medium__pipelines_of_other_implementations) {
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 10, 1, 9, 0, 0), Mode::mxoe, false), Drop::none);
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 65535, 32767, 1, 15, 0), Mode::mxoe, false), Drop::none);
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 10, 10, 0, 16, 0), Mode::mxoe, false), Drop::bad_length);
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 10, 10, 0, 255, 0), Mode::mxoe, false), Drop::bad_length);
}

TEST(codec_message, decode_medium__fragment_behind_the_message) {
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 8192, 1, 2, 12, 0), Mode::mxoe, false), Drop::bad_length);
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 8192, 1, 255, 15, 0), Mode::mxoe, false), Drop::bad_length);
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 8193, 2, 2, 12, 0), Mode::mxoe, false), Drop::bad_length);
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 8193, 1, 2, 12, 0), Mode::mxoe, false), Drop::none);
}

TEST(codec_message, decode_medium__fragment_with_hole_or_overlap) {
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 10000, 4095, 0, 12, 0), Mode::mxoe, false), Drop::bad_length);
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 10000, 4097, 0, 12, 0), Mode::mxoe, false), Drop::bad_length);
  EXPECT_EQ(medium(medium_frame(Mode::omx, 10000, 8000, 0, 0, 7000), Mode::omx, true), Drop::bad_length);
}

TEST(codec_message, decode_medium__empty_fragment_only_of_empty_message) {
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 0, 0, 0, 12, 0), Mode::mxoe, false), Drop::none);
  EXPECT_EQ(medium(medium_frame(Mode::omx, 0, 0, 0, 0, 0), Mode::omx, false), Drop::none);
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 4096, 0, 1, 12, 0), Mode::mxoe, false), Drop::bad_length);
  EXPECT_EQ(medium(medium_frame(Mode::mxoe, 0, 0, 1, 12, 0), Mode::mxoe, false), Drop::bad_length);
  EXPECT_EQ(medium(medium_frame(Mode::omx, 10, 0, 0, 0, 0), Mode::omx, false), Drop::bad_length);
}

TEST(codec_message, decode_medium__omx_without_unit_checks_length_only) {
  EXPECT_EQ(medium(medium_frame(Mode::omx, 10000, 10000, 77, 0, 0), Mode::omx, true), Drop::none);
  EXPECT_EQ(medium(medium_frame(Mode::omx, 10000, 10001, 0, 0, 0), Mode::omx, true), Drop::bad_length);
}

TEST(codec_message, decode_medium__omx_unit_only_of_extended_peers) {
  const Bytes frame = medium_frame(Mode::omx, 20000, 4000, 2, 0, 8000);
  Medium packet;
  ASSERT_EQ(medium(frame, Mode::omx, true, &packet), Drop::none);
  EXPECT_EQ(packet.frag_unit, 8000);
  ASSERT_EQ(medium(frame, Mode::omx, false, &packet), Drop::none);
  EXPECT_EQ(packet.frag_unit, 0);
}

TEST(codec_message, decode_medium__offset_is_computed_in_64_bits) {
  // 255 * 65535 + 65535 stays below 2^32, so the largest length field is the critical one.
  EXPECT_EQ(medium(medium_frame(Mode::omx, 0xffffffff, 65535, 255, 0, 65535), Mode::omx, true), Drop::none);
  EXPECT_EQ(medium(medium_frame(Mode::omx, 255 * 65535, 65535, 255, 0, 65535), Mode::omx, true),
            Drop::bad_length);
}

TEST(codec_message, decode_medium__mxoe_ignores_the_pads) {
  Bytes frame = from_hex(kMediumMxoe.hex);
  frame.resize(frame.size() + kMediumMxoe.data_bytes);
  frame[22] = frame[23] = frame[46] = frame[47] = std::byte{0xee};
  Medium packet;
  ASSERT_EQ(medium(frame, Mode::mxoe, true, &packet), Drop::none);
  EXPECT_EQ(packet.length, 10000u);
  EXPECT_EQ(packet.frag_unit, 0);
}

TEST(codec_message, decode_medium__truncated_extension_data_or_trailer) {
  const Bytes frame = medium_frame(Mode::mxoe, 500, 500, 0, 12, 0, kFlagHeaderExt | kFlagChecksum);
  EXPECT_EQ(frame.size(), 48u + 16 + 500 + 4);
  EXPECT_EQ(medium(frame, Mode::mxoe, true), Drop::none);
  EXPECT_EQ(medium(cut(frame, frame.size() - 1), Mode::mxoe, true), Drop::truncated);
  EXPECT_EQ(medium(cut(frame, 48), Mode::mxoe, true), Drop::truncated);
  EXPECT_EQ(medium(cut(frame, 47), Mode::mxoe, true), Drop::frame_too_short);
}

TEST(codec_message, decode_medium__other_type) {
  EXPECT_EQ(medium(from_hex(kRndv.hex), Mode::mxoe, false), Drop::bad_type);
}

Drop rndv(const Bytes& frame, bool extended, Rndv* out = nullptr) {
  Rndv packet;
  const std::byte* tail = nullptr;
  const Drop drop = decode_rndv(frame, extended, packet, &tail);
  if (out) *out = packet;
  return drop;
}

TEST(codec_message, decode_rndv__data_length_of_seven) {
  Bytes frame = from_hex(kRndv.hex);
  store_be16(frame.data() + 20, 7);
  EXPECT_EQ(rndv(frame, false), Drop::bad_length);
}

TEST(codec_message, decode_rndv__other_type_and_short_header) {
  EXPECT_EQ(rndv(from_hex(kTiny.hex), false), Drop::bad_type);
  EXPECT_EQ(rndv(cut(from_hex(kRndv.hex), 47), false), Drop::frame_too_short);
}

TEST(codec_message, decode_rndv__tail) {
  Rndv packet;
  packet.flags = kFlagHeaderExt;
  packet.ext.data = 77;
  Bytes frame =
      encoded([&](std::byte* out) { return encode_rndv(out, head_to_b(PacketType::rndv), packet); });
  ASSERT_EQ(frame.size(), 64u);
  frame.insert(frame.begin() + 48, 12, std::byte{0x55});
  store_be16(frame.data() + 20, 20);
  packet.tail = 12;
  Rndv got;
  ASSERT_EQ(rndv(frame, true, &got), Drop::none);
  EXPECT_EQ(got, packet);
  EXPECT_EQ(rndv(cut(frame, frame.size() - 1), true), Drop::truncated);
  store_be16(frame.data() + 20, 0xffff);
  EXPECT_EQ(rndv(frame, false), Drop::truncated);
}

TEST(codec_message, decode_rndv__page_behind_unscheduled_and_before_the_tail) {
  for (const std::uint8_t unscheduled : {std::uint8_t{0}, std::uint8_t{kFlagUnscheduled}}) {
    Rndv packet;
    packet.flags = static_cast<std::uint8_t>(kFlagPage | kFlagHeaderExt | unscheduled);
    packet.page = 0x1234;
    packet.unscheduled_unit = unscheduled ? 1000 : 0;
    packet.unscheduled_frames = unscheduled ? 7 : 0;
    packet.tail = 3;
    const std::byte tail[3] = {std::byte{1}, std::byte{2}, std::byte{3}};
    const Bytes frame =
        encoded([&](std::byte* out) { return encode_rndv(out, head_to_b(PacketType::rndv), packet, tail); });
    const std::size_t page = unscheduled ? 52 : 48;
    ASSERT_EQ(frame.size(), page + 4 + 3 + 16);
    EXPECT_EQ(load_be32(frame.data() + page), 0x12340000U);
    EXPECT_EQ(frame[page + 4], std::byte{1});
    Rndv got;
    ASSERT_EQ(rndv(frame, true, &got), Drop::none);
    EXPECT_EQ(got, packet);
    Bytes shorter = frame;
    store_be16(shorter.data() + 20, static_cast<std::uint16_t>(page - 40 + 3));
    EXPECT_EQ(rndv(shorter, true), Drop::bad_length);
  }
}

TEST(codec_message, decode_rndv__longer_data_of_a_newer_peer) {
  const Rndv packet;
  Bytes frame =
      encoded([&](std::byte* out) { return encode_rndv(out, head_to_b(PacketType::rndv), packet); });
  frame.insert(frame.end(), 121, std::byte{0x55});
  store_be16(frame.data() + 20, 8 + 121);
  Rndv got;
  ASSERT_EQ(rndv(frame, true, &got), Drop::none);
  EXPECT_EQ(got, packet) << "no tail";
  store_be16(frame.data() + 20, 8 + 120);
  ASSERT_EQ(rndv(frame, false, &got), Drop::none);
  EXPECT_EQ(got.tail, 0) << "the reference has none";
}

// Makes a PACK with one record that announces `said` bytes, of which `given` are there.
Bytes pack_frame(std::uint16_t said, std::size_t given, std::uint16_t length, std::uint8_t flags = 0) {
  Pack packet;
  packet.flags = flags;
  packet.length = length;
  Bytes frame =
      encoded([&](std::byte* out) { return encode_pack(out, head_to_b(PacketType::pack), packet); });
  Bytes record = encoded([&](std::byte* out) { return encode_pack_record(out, {}); });
  store_be16(record.data() + 8, said);
  frame.insert(frame.end(), record.begin(), record.end());
  frame.resize(frame.size() + given);
  return frame;
}

TEST(codec_message, decode_pack_record__packets) {
  PackRecord record;
  record.packet = true;
  for (const std::uint32_t length : {0U, 1U, kSharedPacketMax}) {
    record.length = static_cast<std::uint16_t>(length);
    Bytes bytes = encoded([&](std::byte* out) { return encode_pack_record(out, record); });
    ASSERT_EQ(bytes.size(), kPacketRecord);
    EXPECT_TRUE(holds_packets(bytes));
    bytes.resize(kPacketRecord + length, std::byte{7});
    Frame rest = bytes;
    PackRecord got;
    const std::byte* data = nullptr;
    ASSERT_EQ(decode_pack_record(rest, got, &data), Drop::none);
    EXPECT_EQ(got, record);
    EXPECT_EQ(data, bytes.data() + kPacketRecord);
    EXPECT_TRUE(rest.empty());
    rest = Frame(bytes).first(bytes.size() - 1);
    EXPECT_EQ(decode_pack_record(rest, got, &data), Drop::truncated);
  }
  Bytes longer = encoded([&](std::byte* out) { return encode_pack_record(out, record); });
  store_be16(longer.data() + 8, kSharedPacketMax + 1);
  longer.resize(400);
  Frame rest = longer;
  const std::byte* data = nullptr;
  EXPECT_EQ(decode_pack_record(rest, record, &data), Drop::bad_length);
  EXPECT_FALSE(holds_packets(Frame(longer).first(11)));
}

TEST(codec_message, decode_pack__bad_lengths) {
  EXPECT_EQ(decode_any(pack_frame(8, 8, 20), Mode::omx, true), Drop::none);
  EXPECT_EQ(decode_any(pack_frame(128, 128, 140), Mode::omx, true), Drop::none);
  EXPECT_EQ(decode_any(pack_frame(129, 129, 141), Mode::omx, true), Drop::bad_length);
  EXPECT_EQ(decode_any(pack_frame(0, 0, 0), Mode::omx, true), Drop::bad_length) << "no record";
  EXPECT_EQ(decode_any(pack_frame(8, 8, 21), Mode::omx, true), Drop::truncated) << "says more than there is";
  EXPECT_EQ(decode_any(pack_frame(9, 8, 20), Mode::omx, true), Drop::truncated) << "of the record";
  EXPECT_EQ(decode_any(pack_frame(8, 16, 28), Mode::omx, true), Drop::truncated) << "half a record follows";
  EXPECT_EQ(decode_any(pack_frame(8, 8, 20, kFlagChecksum), Mode::omx, true), Drop::truncated);
}

}  // namespace
}  // namespace omx::wire::test
