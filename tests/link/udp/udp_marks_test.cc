// SPDX-License-Identifier: BSD-3-Clause
// Datagrams that queues on the path may mark instead of dropping them (ECN, RFC 3168), over the loopback.
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>

#include <array>
#include <cstring>

#include "link/link_counters.h"
#include "link/udp/udp_bulk_socket.h"
#include "link/udp/udp_link.h"
#include "link/udp/udp_socket.h"
#include "tests/support/test_network.h"

namespace omx::link {
namespace {

constexpr std::uint16_t kPort = 24256;

// Notes for each frame whether the link said that a queue had marked it.
struct Marks : FrameHandler, BulkHandler {
  void frames_marked(bool now) override { marked = now; }
  void on_frame(wire::Frame) override { marks.push_back(marked); }
  wire::FrameSender bulk_sender(const wire::BulkAddress&) override { return sender; }
  std::size_t bulk_places(std::span<iovec>) override { return 0; }
  bool bulk_in_place(std::size_t, wire::Frame) override { return false; }
  void on_bulk_placed(std::size_t, wire::Frame) override {}
  void bulk_marked(bool now) override { marked = now; }
  void on_bulk_frame(wire::Frame) override { marks.push_back(marked); }
  wire::FrameSender sender;
  std::vector<bool> marks;
  bool marked = false;
};

class udp_marks : public testing::TestWithParam<IpFamily> {
 protected:
  void SetUp() override {
    std::string reason;
    if (network_enter(reason)) ip("link set lo up");
    if (v6()) {
      OMX_SKIP_WITHOUT_IPV6();
    }
    const auto address = interface_address("lo", ::if_nametoindex("lo"), GetParam());
    ASSERT_TRUE(address);
    own_ = *address;
    peer_ = udp_socket_open(own_, kPort + 1);
    ASSERT_TRUE(peer_.open());
  }
  static bool v6() { return GetParam() == IpFamily::v6; }

  // A frame of a type that comes by the bulk path, too: MEDIUM. It names its endpoints at F17 and F18.
  Bytes frame(std::uint8_t to, std::uint8_t from) const {
    Bytes bytes = make_frame(udp_nic(own_.ip), udp_nic(own_.ip), 80, 39, to, 9);
    bytes[17] = static_cast<std::byte>(to);
    bytes[18] = static_cast<std::byte>(from);
    return bytes;
  }
  // Sends one frame to a port for each value of the two ECN bits.
  void send_with(std::uint16_t port, std::initializer_list<int> ecn) const {
    const SocketAddress to = socket_address(own_.ip, port, 0);
    const Bytes bytes = frame(2, 1);
    for (const int value : ecn) {
      const int level = v6() ? IPPROTO_IPV6 : IPPROTO_IP, option = v6() ? IPV6_TCLASS : IP_TOS;
      ASSERT_EQ(::setsockopt(peer_.get(), level, option, &value, sizeof value), 0);
      ASSERT_EQ(::sendto(peer_.get(), bytes.data(), bytes.size(), 0, to.get(), to.length),
                static_cast<ssize_t>(bytes.size()));
    }
  }
  // Receives a datagram and returns its ECN bits, or -1 if there are none.
  int ecn_received() const {
    pollfd wait{peer_.get(), POLLIN, 0};
    if (::poll(&wait, 1, 5000) != 1) return -1;
    std::array<char, 2048> data;
    alignas(cmsghdr) std::array<char, 256> control;
    iovec piece{data.data(), data.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(peer_.get(), &message, 0) < 0) return -1;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
      const bool ours = v6() ? header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_TCLASS
                             : header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_TOS;
      if (ours) return std::to_integer<int>(*reinterpret_cast<std::byte*>(CMSG_DATA(header)));
    }
    return -1;
  }

  InterfaceAddress own_;
  OwnFd peer_;
};

TEST_P(udp_marks, marked_datagrams__are_told_apart) {
  auto link = udp_link_open({"lo", 2, kPort, true, GetParam()});
  ASSERT_TRUE(link) << link.error().message;
  send_with(kPort + 2, {0, 1, 2, 3, 0});
  Marks seen;
  EXPECT_TRUE(becomes_true([&] { return (*link)->receive(seen, 64), seen.marks.size() == 5; }));
  EXPECT_EQ(seen.marks, (std::vector<bool>{false, false, false, true, false}));
}

TEST_P(udp_marks, marked_datagrams__are_told_apart_on_the_bulk_path) {
  LinkCounters counters;
  UdpBulkSocket bulk(UdpBulkSocket::Beside::raw_frames, ZerocopyMode::never, counters);
  ASSERT_TRUE(bulk.open(own_, 65536, kPort + 2));
  send_with(kPort + 2, {3, 2});
  Marks seen;
  seen.sender = {udp_nic(own_.ip), 1, true};
  EXPECT_TRUE(becomes_true([&] { return bulk.receive(seen, 64), seen.marks.size() == 2; }));
  EXPECT_EQ(seen.marks, (std::vector<bool>{true, false}));
}

TEST_P(udp_marks, own_datagrams__may_be_marked_until_that_is_forgone) {
  constexpr int kCapable = 2;  // ECT(0)
  auto link = udp_link_open({"lo", 2, kPort, true, GetParam()});
  ASSERT_TRUE(link) << link.error().message;
  frame_send(**link, frame(1, 2));
  EXPECT_EQ(ecn_received(), kCapable);
  (*link)->marks_forgo();
  frame_send(**link, frame(1, 2));
  EXPECT_EQ(ecn_received(), 0);
}

// Frames from one peer alone come by another socket, which is read without their marks if each finds it
// empty. Those that wait behind others are looked at now and then.
TEST_P(udp_marks, stream_of_one_peer__is_looked_at_now_and_then) {
  auto link = udp_link_open({"lo", 2, kPort, true, GetParam()});
  ASSERT_TRUE(link) << link.error().message;
  Marks seen;
  const auto take = [&](std::size_t count) {
    return becomes_true([&] { return (*link)->receive(seen, 64), seen.marks.size() >= count; });
  };
  for (std::size_t i = 1; i <= 1000; i++) {
    send_with(kPort + 2, {2});
    ASSERT_TRUE(take(i));
  }
  ASSERT_GT((*link)->counters().frames_alone, 256U) << "the other socket is in use";
  seen.marks.clear();
  for (int i = 0; i < 100; i++) send_with(kPort + 2, {3});
  ASSERT_TRUE(take(100));
  EXPECT_GT(std::count(seen.marks.begin(), seen.marks.end(), true), 5);
}

INSTANTIATE_TEST_SUITE_P(families, udp_marks, testing::Values(IpFamily::v4, IpFamily::v6));

}  // namespace
}  // namespace omx::link
