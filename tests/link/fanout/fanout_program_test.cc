// SPDX-License-Identifier: BSD-3-Clause
// Tests of the program of a packet fanout group, which the kernel runs. The program is attached as a filter
// to a Unix socket, and its result is how many bytes of a datagram pass. One is added to each index, because
// 0 would drop the datagram.
#include "link/fanout/fanout_program.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <set>

#include "base/bytes.h"
#include "wire/codec.h"

namespace omx::link {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t kEthernet = 14;

class Chooser {
 public:
  explicit Chooser(const FanoutTable& table) {
    FilterProgram program = fanout_program_build(table);
    EXPECT_LE(program.size(), static_cast<std::size_t>(BPF_MAXINSNS));
    for (sock_filter& line : program)
      if (line.code == (BPF_RET | BPF_K)) line.k++;
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends_.data()), 0);
    EXPECT_EQ(packet_filter_attach(ends_[1], program), 0);
  }
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;
  ~Chooser() {
    for (int end : ends_) ::close(end);
  }
  int index(const Bytes& frame) {
    std::array<std::byte, 2048> buffer;
    EXPECT_GT(::send(ends_[0], frame.data() + kEthernet, frame.size() - kEthernet, 0), 0);
    return static_cast<int>(::recv(ends_[1], buffer.data(), buffer.size(), 0)) - 1;
  }

 private:
  std::array<int, 2> ends_{};
};

Bytes frame_of_type(unsigned type) {
  Bytes frame(400);
  store8(&frame[16], static_cast<std::uint8_t>(type));
  return frame;
}

// Makes a frame by docs/spec/wire.md 4 and not by the codec.
Bytes frame_for(unsigned type, std::uint8_t endpoint, bool reply = true) {
  Bytes frame = frame_of_type(type);
  if (type == 42 || type == 45)
    store_be32(&frame[28], 0x21071980U ^ endpoint);
  else if (type == 44)
    store8(&frame[25], endpoint);
  else
    store8(&frame[17], endpoint);
  if (type == 36 && reply) store8(&frame[42], 1);
  return frame;
}

constexpr unsigned kEndpointTypes[] = {35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 64};
constexpr unsigned kBoardTypes[] = {1, 3, 4};

TEST(fanout_program, endpoints__each_has_its_index) {
  for (const unsigned step : {1U, 3U, 17U, 255U}) {
    FanoutTable table;
    for (unsigned e = 0; e < 255; e += step)  // backwards: order does not matter
      table.leaves.push_back({static_cast<std::uint8_t>(254 - e), static_cast<std::uint8_t>(1 + e % 255)});
    Chooser chooser(table);
    for (const unsigned type : kEndpointTypes) {
      for (unsigned e = 0; e < 256; e++) {
        const bool known = e < 255 && (254 - e) % step == 0;
        const int expected = known ? static_cast<int>(1 + (254 - e) % 255) : 0;
        ASSERT_EQ(chooser.index(frame_for(type, static_cast<std::uint8_t>(e))), expected)
            << type << " for " << e << " of every " << step;
      }
    }
  }
}

TEST(fanout_program, endpoints__an_empty_table_sends_all_to_the_dropping_member) {
  Chooser chooser({});
  for (const unsigned type : kEndpointTypes) EXPECT_EQ(chooser.index(frame_for(type, 3)), 0) << type;
  for (const unsigned type : kBoardTypes) EXPECT_EQ(chooser.index(frame_of_type(type)), 0) << type;
}

TEST(fanout_program, board__by_chance_one_of_two) {
  FanoutTable table;
  table.leaves = {{5, 1}, {6, 2}};
  table.board = {1, 2};
  Chooser chooser(table);
  for (const unsigned type : kBoardTypes) {
    std::set<int> hit;
    for (int i = 0; i < 200; i++) hit.insert(chooser.index(frame_of_type(type)));
    EXPECT_EQ(hit, (std::set<int>{1, 2})) << type;
  }
}

TEST(fanout_program, board__hears_requests_to_connect_to_endpoints_that_are_not_there) {
  FanoutTable table;
  table.leaves = {{5, 1}, {6, 2}};
  table.board = {2, 0};
  Chooser chooser(table);
  EXPECT_EQ(chooser.index(frame_for(36, 5, false)), 1);
  EXPECT_EQ(chooser.index(frame_for(36, 7, false)), 2);
  EXPECT_EQ(chooser.index(frame_for(36, 7, true)), 0);
  EXPECT_EQ(chooser.index(frame_for(39, 7)), 0);
}

TEST(fanout_program, short_frames__go_to_the_dropping_member) {
  FanoutTable table;
  table.leaves = {{0, 3}};
  Chooser chooser(table);
  Bytes frame = frame_for(42, 0);
  frame.resize(20);  // ends before its magic
  // A load beyond the end stops the program with 0, before one is added.
  EXPECT_LT(chooser.index(frame), 0);
}

}  // namespace
}  // namespace omx::link
