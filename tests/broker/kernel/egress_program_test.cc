// SPDX-License-Identifier: BSD-3-Clause
// Tests where the egress program reads, and that it leaves other frames alone. The attack tests show what it
// does with frames of sealed sockets.
#include "tools/broker/kernel/egress_program.h"

#include <gtest/gtest.h>
#include <linux/pkt_cls.h>

#include <array>
#include <vector>

#include "base/bytes.h"
#include "kernel_needs.h"
#include "netdev/bpf_call.h"
#include "tools/broker/kernel/frame_bytes.h"
#include "wire/codec.h"

namespace omx::broker {
namespace {

using wire::PacketType;
constexpr std::uint8_t kSource = 0xE7;

std::uint8_t at(const std::array<std::byte, 512>& frame, std::uint32_t place) {
  return load8(frame.data() + place);
}

TEST(frame_bytes, head__as_the_codec_writes_it) {
  std::array<std::byte, 512> frame{};
  const wire::Head head{0x010203040506, 0x0A0B0C0D0E0F, 1, PacketType::none};
  wire::Notify packet;
  packet.src_endpoint = kSource;
  wire::encode_notify(frame.data(), head, packet);
  EXPECT_EQ(mac_load(&frame[kSourceMacAt]), head.src);
  EXPECT_EQ(load_be16(&frame[kEthertypeAt]), wire::kEthertype);
  EXPECT_EQ(at(frame, kTypeAt), static_cast<std::uint8_t>(PacketType::notify));
  EXPECT_EQ(at(frame, kSourceAt), kSource);
}

TEST(frame_bytes, nack_lib__has_its_source_before_the_destination) {
  std::array<std::byte, 512> frame{};
  wire::NackLib packet;
  packet.src_endpoint = kSource;
  EXPECT_EQ(wire::encode_nack_lib(frame.data(), {}, packet), kShortestPacket);
  EXPECT_EQ(at(frame, kNackLibSourceAt), kSource);
}

TEST(frame_bytes, pull_reply_and_nack_mcp__have_places_of_their_own) {
  std::array<std::byte, 512> frame{};
  wire::PullReply reply;
  reply.src_endpoint = kSource;
  reply.frame_length = 1;
  EXPECT_EQ(wire::encode_pull_reply(frame.data(), {}, reply), kShortestPacket);
  EXPECT_EQ(at(frame, kPullReplySourceAt), kSource);
  frame.fill(std::byte{0});
  wire::NackMcp nack;
  nack.refusing_endpoint = kSource;
  EXPECT_EQ(wire::encode_nack_mcp(frame.data(), {}, nack), kShortestPacket);
  EXPECT_EQ(at(frame, kNackMcpSourceAt), kSource);
}

// The codec's own reader of sources agrees for every type that sealed sockets may send, and knows no others.
TEST(frame_bytes, source__where_the_codec_reads_it) {
  for (unsigned type = 0; type < 256; type++) {
    std::array<std::byte, 64> frame{};
    frame[kTypeAt] = static_cast<std::byte>(type);
    const std::uint32_t place = type == 42   ? kPullReplySourceAt
                                : type == 44 ? kNackLibSourceAt
                                : type == 45 ? kNackMcpSourceAt
                                             : kSourceAt;
    frame[place] = std::byte{kSource};
    const bool allowed = (type >= 35 && type <= 45) || type == 64 || type == 65;
    EXPECT_EQ(wire::source_endpoint(frame), allowed ? kSource : -1) << type;
  }
}

// Runs the program in the kernel on a frame with this mark. The frame has no socket that any grant knows.
int verdict(const GrantMaps& maps, std::uint32_t mark, Unmarked unmarked = Unmarked::pass) {
  const auto program = egress_program_load(maps, unmarked);
  EXPECT_TRUE(program) << program.error().message;
  std::array<char, 64> frame{};
  __sk_buff context{};
  context.mark = mark;
  bpf_attr a{};
  a.test.prog_fd = static_cast<std::uint32_t>(program ? program->get() : -1);
  a.test.data_in = reinterpret_cast<std::uintptr_t>(frame.data());
  a.test.data_size_in = frame.size();
  a.test.ctx_in = reinterpret_cast<std::uintptr_t>(&context);
  a.test.ctx_size_in = sizeof context;
  EXPECT_EQ(link::bpf_call(BPF_PROG_TEST_RUN, a), 0) << errno;
  return static_cast<int>(a.test.retval);
}

TEST(egress_program, mark__only_ours_are_judged) {
  auto maps = grant_maps_make();
  OMX_NEED(maps);
  for (const std::uint32_t mark : {0U, 1U, 0x4F4C0001U, 0x4F4D8000U ^ 0x80000000U, 0xFFFFFFFFU}) {
    EXPECT_EQ(verdict(*maps, mark), TC_ACT_UNSPEC) << std::hex << mark;
    EXPECT_EQ(verdict(*maps, mark, Unmarked::drop), TC_ACT_SHOT) << std::hex << mark;
  }
  EXPECT_EQ(verdict(*maps, kMarkMagic | 7), TC_ACT_SHOT);
  EXPECT_EQ(verdict(*maps, kMarkMagic | (kSlots - 1)), TC_ACT_SHOT);
  EXPECT_EQ(verdict(*maps, kMarkMagic | kSlots), TC_ACT_SHOT);
  EXPECT_EQ(verdict(*maps, kMarkMagic | 0xFFFF), TC_ACT_SHOT);
  GrantCounters counters;
  ASSERT_EQ(grant_counters_read(*maps, 7, counters), 0);
  EXPECT_EQ(counters.revoked, 1U);
  EXPECT_EQ(counters.frames, 0U);
}

}  // namespace
}  // namespace omx::broker
