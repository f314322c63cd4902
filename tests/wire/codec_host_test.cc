// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "examples.h"
#include "wire_util.h"

namespace omx::wire::test {
namespace {

Drop host_reply(const Bytes& frame) {
  HostReply packet;
  return decode_host_reply(frame, packet);
}

TEST(codec_host, decode_host_query__short_header_and_other_type) {
  HostQuery packet;
  EXPECT_EQ(decode_host_query(cut(from_hex(kHostQuery.hex), 31), packet), Drop::frame_too_short);
  EXPECT_EQ(decode_host_query(from_hex(kHostReply.hex), packet), Drop::bad_type);
}

TEST(codec_host, decode_host_reply__short_header_and_other_type) {
  EXPECT_EQ(host_reply(cut(from_hex(kHostReply.hex), 31)), Drop::frame_too_short);
  EXPECT_EQ(host_reply(from_hex(kHostQuery.hex)), Drop::bad_type);
}

TEST(codec_host, decode_host_reply__name_length_range) {
  Bytes frame = from_hex(kHostReply.hex);
  frame.resize(400);
  frame[17] = std::byte{0};
  EXPECT_EQ(host_reply(frame), Drop::bad_length);
  frame[17] = std::byte{80};
  EXPECT_EQ(host_reply(frame), Drop::none);
  frame[17] = std::byte{81};
  EXPECT_EQ(host_reply(frame), Drop::bad_length);
  frame[17] = std::byte{255};
  EXPECT_EQ(host_reply(frame), Drop::bad_length);
}

TEST(codec_host, decode_host_reply__name_without_nul) {
  Bytes frame = from_hex(kHostReply.hex);
  frame[17] = std::byte{7};
  EXPECT_EQ(host_reply(frame), Drop::bad_length);
}

TEST(codec_host, decode_host_reply__name_behind_the_frame) {
  EXPECT_EQ(host_reply(cut(from_hex(kHostReply.hex), 39)), Drop::truncated);
  EXPECT_EQ(host_reply(cut(from_hex(kHostReply.hex), 40)), Drop::none);
}

TEST(codec_host, host_reply__longest_name) {
  const std::string name(79, 'x');
  const HostReply packet{.src_dst_peer_index = 1, .magic = 2, .name_length = 80, .name = name.c_str()};
  const Bytes frame = encoded(
      [&](std::byte* out) { return encode_host_reply(out, head_to_a(PacketType::host_reply), packet); });
  EXPECT_EQ(frame.size(), 112u);
  HostReply got;
  ASSERT_EQ(decode_host_reply(frame, got), Drop::none);
  EXPECT_EQ(got.name, name);
}

Drop discovery(const Bytes& frame) {
  NicId nic;
  std::uint32_t serial;
  return decode_discovery(frame, nic, serial);
}

TEST(codec_host, decode_discovery__other_raw_packets) {
  const Bytes frame = from_hex(kDiscovery.hex);
  for (std::size_t at : {std::size_t{17}, std::size_t{31}, std::size_t{32}, std::size_t{33}}) {
    Bytes other = frame;
    other[at] = std::byte{1};
    EXPECT_EQ(discovery(other), Drop::bad_type) << at;
  }
  Bytes nobody = frame;
  std::fill(nobody.begin() + 32, nobody.begin() + 40, std::byte{0});
  EXPECT_EQ(discovery(nobody), Drop::bad_type);
}

TEST(codec_host, decode_discovery__short_frame_and_other_type) {
  EXPECT_EQ(discovery(cut(from_hex(kDiscovery.hex), 43)), Drop::frame_too_short);
  Bytes frame = from_hex(kDiscovery.hex);
  frame[16] = std::byte{2};
  EXPECT_EQ(discovery(frame), Drop::bad_type);
}

}  // namespace
}  // namespace omx::wire::test
