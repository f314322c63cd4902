// SPDX-License-Identifier: BSD-3-Clause
// The words of OMX_RAILS (docs/how-to/several-nics.md).
#include "runtime/endpoint/rail_choice.h"

#include <gmock/gmock.h>

#include <string>

namespace omx::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns lo, eth0 (10 Gb/s, 10.77.0.1), eth1 (25 Gb/s, 10.77.0.2), eth2 (1 Gb/s, a PCI function).
std::vector<Board> four_boards() {
  std::vector<Board> boards(4);
  const char* const names[] = {"lo", "eth0", "eth1", "eth2"};
  for (std::uint32_t i = 0; i < 4; i++) {
    Board& board = boards[i];
    board.number = i;
    board.interface.name = names[i];
    board.interface.index = i + 1;
    board.interface.up = board.interface.running = true;
    board.interface.loopback = i == 0;
    board.interface.ethernet = i != 0;
    board.mac = board.interface.nic = i == 0 ? 0 : 0x024f4d580000 + i;
  }
  boards[0].interface.addresses = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1}};
  for (std::uint8_t i = 1; i < 3; i++)
    boards[i].interface.addresses = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 0, i}};
  boards[1].interface.speed_mbps = 10000;
  boards[2].interface.speed_mbps = 25000;
  boards[3].interface.speed_mbps = 1000;
  boards[3].interface.pci_address = "0000:3b:00.0";
  return boards;
}

std::vector<std::string> rails(std::uint32_t board, std::string_view wanted) {
  const auto boards = four_boards();
  const auto chosen = rails_choose(boards, boards[board], wanted);
  if (!chosen) return {"error: " + chosen.error().message};
  std::vector<std::string> names;
  for (const Board* b : *chosen) names.push_back(b->interface.name);
  return names;
}

std::string error_of(std::string_view wanted) {
  const auto boards = four_boards();
  const auto chosen = rails_choose(boards, boards[1], wanted);
  return chosen ? "" : chosen.error().message;
}

TEST(rails_choose, nothing_wanted) {
  EXPECT_THAT(rails(1, ""), IsEmpty());
  EXPECT_THAT(rails(1, " , "), IsEmpty());
}

TEST(rails_choose, all_but_the_loopback) {
  EXPECT_THAT(rails(1, "all"), ElementsAre("eth1", "eth2"));
  EXPECT_THAT(rails(3, "all"), ElementsAre("eth0", "eth1"));
  EXPECT_THAT(rails(0, "all"), IsEmpty());
}

TEST(rails_choose, by_name_only_for_boards_among_them) {
  EXPECT_THAT(rails(1, "eth0,eth2"), ElementsAre("eth2"));
  EXPECT_THAT(rails(3, "eth0 \teth2"), ElementsAre("eth0"));
  EXPECT_THAT(rails(2, "eth0,eth2"), IsEmpty());
  EXPECT_THAT(rails(0, "eth0,eth2"), IsEmpty());
}

// Boards come in their own order, and each once, however often it is named.
TEST(rails_choose, each_once) {
  EXPECT_THAT(rails(1, "eth2,eth2,10.77.0.0/24,eth1"), ElementsAre("eth1", "eth2"));
}

TEST(rails_choose, by_network_mac_pci_and_speed) {
  EXPECT_THAT(rails(1, "10.77.0.0/16"), ElementsAre("eth1"));
  EXPECT_THAT(rails(3, "10.77.0.0/16"), IsEmpty());
  EXPECT_THAT(rails(1, "02:4f:4d:58:00:01,02:4f:4d:58:00:03"), ElementsAre("eth2"));
  EXPECT_THAT(rails(3, "eth0 0000:3b:00.0"), ElementsAre("eth0"));
  EXPECT_THAT(rails(2, "speed>=10g"), ElementsAre("eth0"));
}

// If boards are reached by UDP, their number is made of their IP address. The MAC address stays the
// interface's.
TEST(rails_choose, by_mac_where_boards_are_reached_by_udp) {
  auto boards = four_boards();
  for (Board& board : boards) board.interface.nic = 0xfe0a4d000000 + board.number;
  const auto chosen = rails_choose(boards, boards[1], "eth0,02:4f:4d:58:00:02");
  ASSERT_TRUE(chosen);
  ASSERT_EQ(chosen->size(), 1U);
  EXPECT_EQ(chosen->front()->interface.name, "eth1");
}

TEST(rails_choose, the_loopback_is_no_rail) {
  EXPECT_THAT(error_of("lo,eth0"), HasSubstr("names lo, the loopback"));
  EXPECT_THAT(error_of("eth0,127.0.0.0/8"), HasSubstr("127.0.0.0/8, the loopback"));
}

TEST(rails_choose, what_means_nothing_is_an_error) {
  EXPECT_THAT(error_of("eth0,eth7"), HasSubstr("OMX_RAILS names eth7, which is no board here; omx info"));
  EXPECT_THAT(error_of("eth0,10.78.0.0/16"), HasSubstr("names 10.78.0.0/16"));
  EXPECT_THAT(error_of("eth0,10.77.0.0/33"), HasSubstr("OMX_RAILS"));
  EXPECT_THAT(error_of("all,eth0"), HasSubstr("names all"));
  EXPECT_THAT(error_of("eth0,x\x1b[2J"), HasSubstr("x?[2J"));
}

}  // namespace
}  // namespace omx::runtime
