// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/arrivals.h"

#include <gmock/gmock.h>

namespace omx::tools {
namespace {

using Bytes = std::vector<std::byte>;

void add(Bytes& bytes, std::initializer_list<unsigned> values) {
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
}

// A small message to endpoint 7, beginning with its addresses. `tag` stands before the ethertype.
Bytes frame(std::initializer_list<unsigned> tag = {}) {
  Bytes bytes(12);
  add(bytes, tag);
  add(bytes, {0x86, 0xdf, 0, 0, 37, 7});
  bytes.resize(bytes.size() + 42);
  return bytes;
}

Bytes datagram(std::initializer_list<unsigned> type, std::size_t header, unsigned first) {
  Bytes bytes(12);
  add(bytes, type);
  bytes.push_back(static_cast<std::byte>(first));
  bytes.resize(14 + header + 8);
  const Bytes inside = frame();
  bytes.insert(bytes.end(), inside.begin(), inside.end());
  return bytes;
}

TEST(arrival_endpoint, frames_tagged_or_not) {
  EXPECT_EQ(arrival_endpoint(frame()), 7);
  EXPECT_EQ(arrival_endpoint(frame({0x81, 0, 0, 5})), 7);
  EXPECT_EQ(arrival_endpoint(frame({0x88, 0xa8, 0, 5})), 7);
}

TEST(arrival_endpoint, frames_in_datagrams) {
  EXPECT_EQ(arrival_endpoint(datagram({8, 0}, 20, 0x45)), 7);
  EXPECT_EQ(arrival_endpoint(datagram({8, 0}, 60, 0x4f)), 7);
  EXPECT_EQ(arrival_endpoint(datagram({0x86, 0xdd}, 40, 0x60)), 7);
}

TEST(arrival_endpoint, none) {
  Bytes board = frame();
  board[16] = std::byte{32};  // HOST_QUERY
  EXPECT_EQ(arrival_endpoint(board), -1);
  Bytes other = datagram({8, 0}, 20, 0x45);
  other[14 + 20 + 8 + 12] = std::byte{8};
  EXPECT_EQ(arrival_endpoint(other), -1);
  EXPECT_EQ(arrival_endpoint(frame({8, 6})), -1);
}

TEST(arrival_endpoint, cut_anywhere__is_not_read_beyond) {
  for (const Bytes& whole :
       {frame(), frame({0x81, 0, 0, 5}), datagram({8, 0}, 60, 0x4f), datagram({0x86, 0xdd}, 40, 0x60)}) {
    for (std::size_t size = 0; size < whole.size(); size++) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      const int endpoint = arrival_endpoint(part);
      EXPECT_TRUE(endpoint == -1 || endpoint == 7) << size;
    }
  }
}

// The kernel picks a socket by the processor's number. With one socket for each processor, processors 4 and 5
// would be counted as 0 and 1.
TEST(arrival_sockets, gaps_between_processors_have_some) {
  EXPECT_EQ(arrival_sockets({0, 1}, 2), 2U);
  EXPECT_EQ(arrival_sockets({0, 1, 4, 5}, 8), 8U);
  EXPECT_EQ(arrival_sockets({}, 3), 3U);
  EXPECT_EQ(arrival_sockets({0, 1, 4, 5}, 1024), 6U);
}

TEST(arrivals_text, what_was_missed__and_why) {
  Arrivals arrivals{"eth0", {{1, {0, 5}}}, 0, true};
  EXPECT_EQ(arrivals_text(arrivals),
            "eth0: frames by the processor that received them\n"
            "  endpoint 1: 5 on processor 1\n");
  arrivals.missed = 7;
  EXPECT_THAT(arrivals_text(arrivals), testing::HasSubstr("  7 more came too fast to be counted; larger "
                                                          "buffers need CAP_NET_ADMIN"));
  arrivals.small_buffers = false;
  EXPECT_THAT(arrivals_text(arrivals), testing::HasSubstr("  7 more came too fast to be counted\n"));
}

}  // namespace
}  // namespace omx::tools
