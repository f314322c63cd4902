// SPDX-License-Identifier: BSD-3-Clause
// Connections that are made to hold the broker up.
#include "tools/broker/client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "hostile_connection.h"
#include "tests/support/test_network.h"
#include "tools/broker/disposal.h"
#include "tools/broker/spare_maps.h"

namespace omx::broker {
namespace {

class ClientTest : public testing::Test {
 protected:
  ClientTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    client_.socket = OwnFd(ends[0]);
    peer_ = OwnFd(ends[1]);
    senders_ask(client_.socket.get());
  }
  void send(std::size_t bytes, int descriptor = -1) const {
    const std::vector<char> packet(bytes);
    ASSERT_TRUE(packet_send(peer_, packet.data(), bytes, descriptor));
  }
  bool left_after_end() {
    ::shutdown(client_.socket.get(), SHUT_RDWR);
    return descriptors_left(client_.socket);
  }

  Client client_;
  OwnFd peer_;
};

TEST_F(ClientTest, request_take__nothing_yet) {
  EXPECT_FALSE(request_take(client_));
}

TEST_F(ClientTest, request_take__a_packet_then_the_end) {
  send(sizeof(Request));
  peer_.reset();
  const auto first = request_take(client_), second = request_take(client_);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->packet.size(), sizeof(Request));
  EXPECT_FALSE(first->ended || first->hostile);
  EXPECT_TRUE(second->ended);
}

TEST_F(ClientTest, request_take__with_a_descriptor) {
  send(sizeof(Request), 0);
  EXPECT_TRUE(request_take(client_)->hostile);
}

TEST_F(ClientTest, descriptors_left__behind_other_packets) {
  for (int i = 0; i < 5; i++) send(10);
  send(10, 0);
  EXPECT_TRUE(left_after_end());
}

// An empty packet looks like the end of a connection.
TEST_F(ClientTest, descriptors_left__behind_empty_packets) {
  for (int i = 0; i < 5; i++) send(0);
  send(10, 0);
  EXPECT_TRUE(left_after_end());
}

TEST_F(ClientTest, descriptors_left__in_an_empty_packet) {
  send(0, 0);
  EXPECT_TRUE(left_after_end());
}

TEST_F(ClientTest, descriptors_left__none) {
  EXPECT_FALSE(left_after_end());
  for (int i = 0; i < 5; i++) EXPECT_FALSE(left_after_end());
}

TEST_F(ClientTest, descriptors_left__none_behind_packets) {
  for (int i = 0; i < 5; i++) send(i % 2 ? 0 : 10);
  EXPECT_FALSE(left_after_end());
}

std::size_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(SpareMaps, take__those_of_the_user_only) {
  SpareMaps maps;
  EXPECT_FALSE(maps.take(1000).open());
  maps.put(1000, OwnFd(::dup(0)));
  EXPECT_FALSE(maps.take(1001).open());
  EXPECT_TRUE(maps.take(1000).open());
  EXPECT_FALSE(maps.take(1000).open());
  EXPECT_EQ(maps.size(), 0U);
}

TEST(SpareMaps, put__the_oldest_goes_when_there_are_too_many) {
  SpareMaps maps;
  for (std::size_t i = 0; i < SpareMaps::kMost + 10; i++) maps.put(static_cast<uid_t>(i), OwnFd());
  EXPECT_EQ(maps.size(), SpareMaps::kMost);
}

TEST(Disposal, many_slow_connections__take_few_threads) {
  constexpr std::size_t kMany = 40;
  SlowSockets slow(1);
  Disposal disposal;
  std::size_t most = 0;
  for (std::size_t i = 0; i < kMany; i++) {
    i % 2 ? disposal.close(1000, slow.open()) : disposal.close_refused(slow.open());
    most = std::max(most, threads());
  }
  std::size_t places = 0;
  EXPECT_TRUE(link::becomes_true([&] {
    // Threads are counted no more: one that has closed its socket takes a moment to end.
    places += disposal.done().size();
    return disposal.empty();
  }));
  EXPECT_EQ(places, kMany / 2);
  EXPECT_GT(most, 4U) << "slow ones do not wait for each other";
  EXPECT_LE(most, 20U);
}

}  // namespace
}  // namespace omx::broker
