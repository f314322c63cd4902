// SPDX-License-Identifier: BSD-3-Clause
// The words of wire/lone.h say what the fields of the codec say.
#include "wire/lone.h"

#include <gtest/gtest.h>

#include "wire_util.h"

namespace omx::wire::test {
namespace {

Eager eager_of(Random& random) {
  Eager packet;
  packet.dst_endpoint = static_cast<std::uint8_t>(random.next());
  packet.src_endpoint = static_cast<std::uint8_t>(random.next());
  packet.flags = static_cast<std::uint8_t>(random.next()) & ~kFlagChecksum;
  packet.seqnum = static_cast<std::uint16_t>(random.next());
  packet.piggyack = static_cast<std::uint16_t>(random.next());
  packet.match_info = random.next();
  packet.session = static_cast<std::uint32_t>(random.next());
  packet.length = static_cast<std::uint16_t>(random.below(kSmallMax + 1));
  if (packet.flags & kFlagHeaderExt)
    packet.ext = {static_cast<std::uint8_t>(random.next()), static_cast<std::uint8_t>(random.next()),
                  random.next()};
  return packet;
}

Head head_of(Random& random, std::size_t length) {
  return {random.next() >> 16, random.next() >> 16, static_cast<std::uint16_t>(random.next()),
          length <= kTinyMax ? PacketType::tiny : PacketType::small};
}

Lone lone_of(const Head& head, const Eager& packet) {
  return {head.type,           head.dst,       head.src,      head.peer_index, packet.dst_endpoint,
          packet.src_endpoint, packet.flags,   packet.length, packet.seqnum,   packet.piggyack,
          packet.match_info,   packet.session, packet.ext};
}

bool same(const Lone& a, const Lone& b) {
  return a.type == b.type && a.dst == b.dst && a.src == b.src && a.peer_index == b.peer_index &&
         a.dst_endpoint == b.dst_endpoint && a.src_endpoint == b.src_endpoint && a.flags == b.flags &&
         a.length == b.length && a.seqnum == b.seqnum && a.piggyack == b.piggyack &&
         a.match_info == b.match_info && a.session == b.session && a.ext == b.ext;
}

TEST(lone, encode__as_encode_eager) {
  Random random(1);
  for (int i = 0; i < 1000; i++) {
    const Eager packet = eager_of(random);
    const Head head = head_of(random, packet.length);
    const Bytes one = encoded([&](std::byte* out) { return encode_eager(out, head, packet); });
    const Bytes other = encoded([&](std::byte* out) {
      encode_lone(out, lone_of(head, packet));
      return lone_header(packet.flags);
    });
    ASSERT_EQ(one, other);
  }
}

// Of any bytes, decode_lone() accepts exactly what decode_eager() accepts without a checksum.
TEST(lone, decode__as_decode_eager) {
  Random random(2);
  int accepted = 0;
  for (int i = 0; i < 20000; i++) {
    const Eager made = eager_of(random);
    Bytes frame =
        encoded([&](std::byte* out) { return encode_eager(out, head_of(random, made.length), made); });
    frame.resize(random.chance(0.5) ? std::max<std::size_t>(kMinFrame, frame.size() + made.length)
                                    : kLoneHeader + random.below(100));
    if (random.chance(0.5)) frame[12 + random.below(12)] = static_cast<std::byte>(random.next());
    Lone lone;
    Head found;
    Eager packet;
    const std::byte* data = nullptr;
    const bool plain = decode_head(frame, found) == Drop::none &&
                       (found.type == PacketType::tiny || found.type == PacketType::small) &&
                       decode_eager(frame, true, packet, &data) == Drop::none &&
                       !(packet.flags & kFlagChecksum);
    ASSERT_EQ(decode_lone(frame, lone), plain);
    if (!plain) continue;
    accepted++;
    ASSERT_TRUE(same(lone, lone_of(found, packet)));
    ASSERT_EQ(data, frame.data() + lone_header(lone.flags));
  }
  EXPECT_GT(accepted, 5000);
}

TEST(lone, decode__shorter_than_its_header) {
  Lone lone;
  EXPECT_FALSE(decode_lone(Bytes(kLoneHeader - 1), lone));
  EXPECT_FALSE(decode_lone({}, lone));
}

}  // namespace
}  // namespace omx::wire::test
