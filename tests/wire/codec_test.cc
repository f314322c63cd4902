// SPDX-License-Identifier: BSD-3-Clause
#include "wire/codec.h"
#include "wire/names.h"

#include <gtest/gtest.h>

#include "examples.h"
#include "wire_util.h"

namespace omx::wire::test {
namespace {

TEST(codec, decode_head__seventeen_bytes_are_needed) {
  Head head;
  EXPECT_EQ(decode_head(cut(from_hex(kTiny.hex), 16), head), Drop::frame_too_short);
  EXPECT_EQ(decode_head(cut(from_hex(kTiny.hex), 17), head), Drop::none);
  EXPECT_EQ(decode_head({}, head), Drop::frame_too_short);
}

TEST(codec, decode_head__other_ethertype) {
  Bytes frame = from_hex(kTiny.hex);
  frame[13] = std::byte{0xdd};
  Head head;
  EXPECT_EQ(decode_head(frame, head), Drop::bad_type);
}

TEST(codec, decode_head__unknown_type_is_handed_on) {
  Bytes frame = from_hex(kTiny.hex);
  frame[16] = std::byte{99};
  Head head;
  ASSERT_EQ(decode_head(frame, head), Drop::none);
  EXPECT_EQ(static_cast<int>(head.type), 99);
}

TEST(codec, put_head__upper_bits_of_a_nic_id_are_not_written) {
  Eager packet;
  Head head = head_to_b(PacketType::tiny);
  head.dst |= 0xffffULL << 48;
  head.src |= 0xffffULL << 48;
  const Bytes frame = encoded([&](std::byte* out) { return encode_eager(out, head, packet); });
  EXPECT_EQ(mac_load(frame.data()), kNicB);
  EXPECT_EQ(mac_load(frame.data() + 6), kNicA);
}

TEST(codec, destination_endpoint__of_each_example) {
  const struct {
    const Example* example;
    int endpoint;
  } cases[] = {{&kConnectRequest, 0}, {&kConnectReply, 3},  {&kTiny, 0},       {&kSmall, 0},
               {&kMediumMxoe, 0},     {&kMediumOmx, 0},     {&kRndv, 0},       {&kPullMxoe, 3},
               {&kPullOmx, 3},        {&kPullReplyMxoe, 0}, {&kNotify, 3},     {&kTruc, 0},
               {&kNackLib, 3},        {&kNackMcp, 0},       {&kHostQuery, -1}, {&kHostReply, -1},
               {&kDiscovery, -1}};
  for (const auto& c : cases) EXPECT_EQ(destination_endpoint(from_hex(c.example->hex)), c.endpoint);
}

TEST(codec, source_endpoint__of_each_example) {
  const struct {
    const Example* example;
    int endpoint;
  } cases[] = {{&kConnectRequest, 3}, {&kConnectReply, 0}, {&kTiny, 3},       {&kSmall, 3},
               {&kMediumMxoe, 3},     {&kMediumOmx, 3},    {&kRndv, 3},       {&kPullMxoe, 0},
               {&kPullOmx, 0},        {&kNotify, 0},       {&kTruc, 3},       {&kNackLib, 0},
               {&kPullReplyMxoe, 0},  {&kNackMcp, 0},      {&kHostQuery, -1}, {&kHostReply, -1},
               {&kDiscovery, -1}};
  for (const auto& c : cases) EXPECT_EQ(source_endpoint(from_hex(c.example->hex)), c.endpoint);
  for (const auto& [type, at] : {std::pair{64, 18}, {65, 18}, {42, 14}, {44, 17}, {45, 20}, {99, -1}}) {
    Bytes frame(32);
    frame[16] = static_cast<std::byte>(type);
    if (at >= 0) frame[static_cast<std::size_t>(at)] = std::byte{200};
    EXPECT_EQ(source_endpoint(frame), at < 0 ? -1 : 200) << type;
  }
}

TEST(codec, sent_by__every_type_names_its_endpoint_and_some_only_by_the_feature) {
  for (const int type : {35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 64, 65}) {
    Bytes frame(32);
    mac_store(frame.data() + 6, kNicA);
    frame[16] = static_cast<std::byte>(type);
    for (const std::size_t at : {14, 17, 18, 20}) frame[at] = std::byte{7};
    const bool by_feature = type == 42 || type == 45;
    for (const bool always : {false, true}) {
      EXPECT_TRUE(sent_by(frame, {kNicA, 7, always})) << type;
      EXPECT_FALSE(sent_by(frame, {kNicA + 1, 7, always})) << type;
      EXPECT_EQ(sent_by(frame, {kNicA, 8, always}), by_feature && !always) << type;
    }
  }
  Bytes unknown(32);
  mac_store(unknown.data() + 6, kNicA);
  unknown[16] = std::byte{99};
  EXPECT_FALSE(sent_by(unknown, {kNicA, 7, true}));
}

TEST(codec, destination_endpoint__from_the_magic) {
  Bytes frame = from_hex(kPullReplyMxoe.hex);
  store_be32(frame.data() + 28, kPullMagic ^ 200);
  EXPECT_EQ(destination_endpoint(frame), 200);
  frame[16] = std::byte{45};
  EXPECT_EQ(destination_endpoint(frame), 200);
}

TEST(codec, destination_endpoint__our_own_and_unknown_types) {
  Bytes frame(32);
  frame[17] = std::byte{5};
  for (int type : {64, 65}) {
    frame[16] = static_cast<std::byte>(type);
    EXPECT_EQ(destination_endpoint(frame), 5) << type;
  }
  for (int type : {0, 2, 5, 32, 33, 34, 46, 63, 66, 255}) {
    frame[16] = static_cast<std::byte>(type);
    EXPECT_EQ(destination_endpoint(frame), -1) << type;
    EXPECT_EQ(frame_flags(frame), 0) << type;
    EXPECT_EQ(covered_length(frame, Mode::omx), 0u) << type;
  }
}

TEST(codec, frame_flags__where_each_type_keeps_them) {
  Bytes frame(32);
  frame[15] = std::byte{1};
  frame[18] = std::byte{2};
  frame[19] = std::byte{4};
  const auto flags = [&](PacketType type) {
    frame[16] = static_cast<std::byte>(type);
    return static_cast<int>(frame_flags(frame));
  };
  for (auto type :
       {PacketType::tiny, PacketType::small, PacketType::medium, PacketType::rndv, PacketType::pull,
        PacketType::notify, PacketType::truc, PacketType::probe, PacketType::pack}) {
    EXPECT_EQ(flags(type), 4) << packet_type_name(type);
  }
  EXPECT_EQ(flags(PacketType::pull_reply), 1);
  EXPECT_EQ(flags(PacketType::nack_lib), 2);
  EXPECT_EQ(flags(PacketType::nack_mcp), 2);
  for (auto type : {PacketType::connect, PacketType::raw, PacketType::host_query, PacketType::host_reply}) {
    EXPECT_EQ(flags(type), 0) << packet_type_name(type);
  }
}

TEST(codec, covered_length__of_each_example) {
  const struct {
    const Example* example;
    std::size_t covered;
  } cases[] = {{&kConnectRequest, 48}, {&kConnectReply, 48},    {&kTiny, 45},           {&kSmall, 80},
               {&kMediumMxoe, 1856},   {&kMediumOmx, 1856},     {&kRndv, 48},           {&kPullMxoe, 48},
               {&kPullOmx, 60},        {&kPullReplyMxoe, 4128}, {&kPullReplyOmx, 9000}, {&kNotify, 40},
               {&kTruc, 44},           {&kNackLib, 32},         {&kNackMcp, 32},        {&kHostQuery, 32},
               {&kHostReply, 40},      {&kDiscovery, 64}};
  for (const auto& c : cases) {
    Bytes frame = from_hex(c.example->hex);
    frame.resize(frame.size() + c.example->data_bytes);
    // In two examples the flags lie in a byte that is the low byte of the peer index.
    if (frame[16] == std::byte{42}) frame[15] = std::byte{0};
    EXPECT_EQ(covered_length(frame, c.example->mode), c.covered) << c.example->name;
  }
}

TEST(codec, covered_length__malformed) {
  const auto with = [](const Example& example, std::size_t at, unsigned value) {
    Bytes frame = from_hex(example.hex);
    frame.resize(300);
    frame[at] = static_cast<std::byte>(value);
    return covered_length(frame, example.mode);
  };
  EXPECT_EQ(with(kTiny, 21, 33), 0u);
  EXPECT_EQ(with(kSmall, 21, 129), 0u);
  EXPECT_EQ(with(kMediumMxoe, 40, 0xff), 0u);
  EXPECT_EQ(with(kRndv, 21, 7), 0u);
  EXPECT_EQ(with(kTruc, 20, 15), 0u);
  EXPECT_EQ(with(kConnectRequest, 20, 15), 0u);
  EXPECT_EQ(with(kHostReply, 17, 0), 0u);
  EXPECT_EQ(with(kHostReply, 17, 81), 0u);
  EXPECT_EQ(covered_length({}, Mode::omx), 0u);
}

TEST(codec, checksum_verify__probe_trailer_before_its_padding) {
  Probe packet;
  packet.size = 1514;
  packet.flags = kFlagChecksum;
  const Bytes header =
      encoded([&](std::byte* out) { return encode_probe(out, head_to_b(PacketType::probe), packet); });
  Bytes frame = whole_frame(header, {}, packet.flags);
  frame.resize(1514);
  EXPECT_EQ(covered_length(frame, Mode::omx), 48u);
  EXPECT_TRUE(checksum_verify(frame, Mode::omx));
}

Bytes checked_tiny() {
  Eager packet;
  packet.flags = kFlagChecksum;
  packet.length = 5;
  const Bytes header =
      encoded([&](std::byte* out) { return encode_eager(out, head_to_b(PacketType::tiny), packet); });
  return whole_frame(header, from_text("hello"), packet.flags);
}

TEST(codec, checksum_verify__trailer_before_the_padding) {
  const Bytes frame = checked_tiny();
  EXPECT_EQ(frame.size(), 60u);
  EXPECT_EQ(load_be32(frame.data() + 45), crc32c(0, frame.data() + 12, 33));
  EXPECT_TRUE(checksum_verify(frame, Mode::omx));
  EXPECT_TRUE(checksum_verify(cut(frame, 49), Mode::omx));
}

TEST(codec, checksum_verify__any_damaged_bit) {
  const Bytes frame = checked_tiny();
  for (std::size_t at = 12; at < 49; at++) {
    for (int bit = 0; bit < 8; bit++) {
      Bytes damaged = frame;
      damaged[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_FALSE(checksum_verify(damaged, Mode::omx)) << at << "." << bit;
    }
  }
}

TEST(codec, checksum_verify__addresses_and_padding_are_left_out) {
  Bytes frame = checked_tiny();
  frame[3] ^= std::byte{0xff};
  frame[59] ^= std::byte{0xff};
  EXPECT_TRUE(checksum_verify(frame, Mode::omx));
}

TEST(codec, checksum_verify__missing_trailer) {
  EXPECT_FALSE(checksum_verify(cut(checked_tiny(), 48), Mode::omx));
  EXPECT_FALSE(checksum_verify(from_hex(kTiny.hex), Mode::omx));
  EXPECT_FALSE(checksum_verify(from_hex(kConnectRequest.hex), Mode::omx));
  EXPECT_FALSE(checksum_verify({}, Mode::omx));
}

}  // namespace
}  // namespace omx::wire::test
