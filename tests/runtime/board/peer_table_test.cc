// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/peer_table.h"

#include <gmock/gmock.h>

namespace omx::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& text) {
  const auto peers = peers_parse(text, "peers");
  EXPECT_FALSE(peers.has_value());
  return peers ? "" : peers.error().message;
}

TEST(peers_parse, good) {
  const auto peers =
      peers_parse("# hosts\n02:00:00:00:00:01 node1:0\n\n  02-00-00-00-00-02\tnode2:0  # second\n", "peers");
  ASSERT_TRUE(peers) << peers.error().message;
  ASSERT_EQ(peers->size(), 2U);
  EXPECT_EQ((*peers)[0].nic, 0x020000000001U);
  EXPECT_EQ((*peers)[0].name, "node1:0");
  EXPECT_EQ((*peers)[1].nic, 0x020000000002U);
}

TEST(peers_parse, empty) {
  const auto peers = peers_parse("", "peers");
  ASSERT_TRUE(peers);
  EXPECT_TRUE(peers->empty());
}

TEST(peers_parse, malformed) {
  EXPECT_THAT(error_of("# x\nnode1 02:00:00:00:00:01\n"),
              AllOf(HasSubstr("peers:2:"), HasSubstr("\"node1\" is not a MAC address")));
  EXPECT_THAT(error_of("02:00:00:00:00:01\n"), HasSubstr("no name"));
  EXPECT_THAT(error_of("02:00:00:00:00:01 a b\n"), HasSubstr("\"b\" behind the name \"a\""));
  EXPECT_THAT(error_of("02:00:00:00:00:01 " + std::string(80, 'x')), HasSubstr("79 characters"));
  EXPECT_THAT(error_of("02:00:00:00:00:01 \x1B[2J"), HasSubstr("\"?[2J\" has control characters"));
  EXPECT_LT(error_of(std::string(1000, 'x')).size(), 200U);
  EXPECT_THAT(error_of("02:00:00:00:00:01 a\n02:00:00:00:00:01 b"),
              AllOf(HasSubstr("peers:2:"), HasSubstr("line 1")));
  EXPECT_THAT(error_of("02:00:00:00:00:01 a\n02:00:00:00:00:02 a"), HasSubstr("names another NIC"));
}

TEST(peer_table, find__by_name_and_default_board) {
  PeerTable table;
  table.set(1, "node1:0");
  table.set(2, "node1:1");
  EXPECT_EQ(table.find("node1:1")->nic, 2U);
  EXPECT_EQ(table.find("node1")->nic, 1U);
  EXPECT_FALSE(table.find("node2"));
  EXPECT_FALSE(table.find(""));
}

TEST(peer_table, find__exact_name_before_default_board) {
  PeerTable table;
  table.set(1, "a:0");
  table.set(2, "a");
  EXPECT_EQ(table.find("a")->nic, 2U);
}

TEST(peer_table, set__renames) {
  PeerTable table;
  table.set(1, "old:0");
  table.set(1, "new:0", true);
  EXPECT_FALSE(table.find("old:0"));
  EXPECT_EQ(table.find(1)->name, "new:0");
  EXPECT_TRUE(table.find(1)->local);
}

TEST(peer_table, add__keeps_a_name) {
  PeerTable table;
  table.set(1, "a:0");
  table.add(1);
  table.add(2);
  EXPECT_EQ(table.find(1)->name, "a:0");
  EXPECT_EQ(table.find(2)->name, "");
  EXPECT_EQ(table.all().size(), 2U);
}

TEST(peer_table, learn__moves_a_learned_name) {
  PeerTable table;
  table.learn(1, "a:0");
  table.learn(2, "a:0");
  EXPECT_EQ(table.find("a:0")->nic, 2U);
  EXPECT_EQ(table.find(1)->name, "");
  table.learn(2, "b:0");
  EXPECT_EQ(table.find(2)->name, "b:0");
}

TEST(peer_table, learn__changes_nothing_that_was_set) {
  PeerTable table;
  table.set(1, "a:0");
  table.set(3, "self:0", true);
  table.learn(1, "b:0");
  table.learn(2, "a:0");
  table.learn(3, "c:0");
  table.learn(4, "self:0");
  EXPECT_EQ(table.find("a:0")->nic, 1U);
  EXPECT_EQ(table.find("self:0")->nic, 3U);
  EXPECT_FALSE(table.find("b:0"));
  EXPECT_FALSE(table.find("c:0"));
}

TEST(peer_table, learn__is_bounded) {
  PeerTable table;
  for (NicId nic = 1; nic <= PeerTable::kLearnedMax + 10; nic++) table.add(nic);
  EXPECT_EQ(table.all().size(), PeerTable::kLearnedMax);
  table.learn(PeerTable::kLearnedMax + 11, "late:0");
  EXPECT_FALSE(table.find("late:0"));
  table.set(PeerTable::kLearnedMax + 12, "mine:0");
  EXPECT_TRUE(table.find("mine:0"));
}

}  // namespace
}  // namespace omx::runtime
