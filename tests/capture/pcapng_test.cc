// SPDX-License-Identifier: BSD-3-Clause
#include "tools/capture/pcapng.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/own_fd.h"

namespace omx::tools {
namespace {

// Collects what the writer writes, block by block.
struct Blocks {
  OwnFd in, out;
  Blocks() {
    int fds[2] = {-1, -1};
    EXPECT_EQ(::pipe(fds), 0);
    in = OwnFd(fds[0]);
    out = OwnFd(fds[1]);
  }
  std::string next() {
    std::uint32_t head[2] = {};
    if (::read(in.get(), head, sizeof head) != sizeof head || head[1] < 12) return {};
    std::string block(head[1], '\0');
    std::memcpy(block.data(), head, sizeof head);
    const auto rest = static_cast<ssize_t>(head[1] - sizeof head);
    EXPECT_EQ(::read(in.get(), block.data() + sizeof head, head[1] - sizeof head), rest);
    return block;
  }
};

std::uint32_t at32(const std::string& block, std::size_t at) {
  std::uint32_t value = 0;
  if (at + sizeof value <= block.size()) std::memcpy(&value, block.data() + at, sizeof value);
  return value;
}

TEST(Pcapng, blocks__lengths_at_both_ends_and_multiples_of_four) {
  Blocks blocks;
  PcapngWriter writer(blocks.out.get());
  writer.begin("eth0", 1000, "test");
  const std::string data = "0123456789abcdefghi";
  CapturedFrame frame;
  frame.time_ns = 0x123456789abcdef0;
  frame.wire_size = 400;
  frame.bytes = std::as_bytes(std::span(data));
  writer.frame(frame);
  writer.end(1, {3, 4, 5});
  ASSERT_EQ(writer.flush(), 0);
  EXPECT_EQ(writer.gathered(), 0U);
  for (const std::uint32_t type : {0x0A0D0D0AU, 1U, 6U, 5U}) {
    const std::string block = blocks.next();
    EXPECT_EQ(at32(block, 0), type);
    EXPECT_EQ(block.size() % 4, 0U);
    EXPECT_EQ(at32(block, block.size() - 4), block.size());
  }
}

TEST(Pcapng, frame__time_sizes_and_direction) {
  Blocks blocks;
  PcapngWriter writer(blocks.out.get());
  const std::string data = "0123456789abcdefghi";
  CapturedFrame frame;
  frame.time_ns = 0x123456789abcdef0;
  frame.wire_size = 400;
  frame.bytes = std::as_bytes(std::span(data));
  for (const bool sent : {false, true}) {
    frame.sent = sent;
    writer.frame(frame);
    ASSERT_EQ(writer.flush(), 0);
    const std::string block = blocks.next();
    EXPECT_EQ(at32(block, 12), 0x12345678U);
    EXPECT_EQ(at32(block, 16), 0x9abcdef0U);
    EXPECT_EQ(at32(block, 20), data.size());
    EXPECT_EQ(at32(block, 24), 400U);
    EXPECT_EQ(block.substr(28, data.size()), data);
    EXPECT_EQ(at32(block, 48), 0x00040002U);  // the flags option
    EXPECT_EQ(at32(block, 52), sent ? 2U : 1U);
  }
}

TEST(Pcapng, frame__a_vlan_tag_goes_back_behind_the_addresses) {
  Blocks blocks;
  PcapngWriter writer(blocks.out.get());
  const std::string data = "ddddddssssssTT and more";
  CapturedFrame frame;
  frame.wire_size = 100;
  frame.tagged = true;
  frame.tag_type = 0x8100;
  frame.tag = 0x0123;
  frame.bytes = std::as_bytes(std::span(data));
  writer.frame(frame);
  ASSERT_EQ(writer.flush(), 0);
  const std::string block = blocks.next();
  EXPECT_EQ(at32(block, 20), data.size() + 4);
  EXPECT_EQ(at32(block, 24), 104U);
  EXPECT_EQ(block.substr(28, data.size() + 4),
            std::string("ddddddssssss\x81\x00\x01\x23", 16) + "TT and more");
}

TEST(Pcapng, flush__says_that_nothing_can_be_written) {
  PcapngWriter writer(-1);
  writer.begin("eth0", 1000, "test");
  EXPECT_EQ(writer.flush(), EBADF);
  EXPECT_EQ(writer.flush(), 0);  // nothing is kept after a failure
}

}  // namespace
}  // namespace omx::tools
