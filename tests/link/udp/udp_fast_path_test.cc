// SPDX-License-Identifier: BSD-3-Clause
// Tests of the connected fast-path socket. It is used when it pays, and no frame is lost or overtaken when
// its peer changes.
#include "link/udp/udp_fast_path.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <map>
#include <random>

#include "base/bytes.h"
#include "link/udp/udp_link.h"
#include "link/udp/udp_socket.h"
#include "tests/support/test_network.h"
#include "wire/codec.h"

namespace omx::link {
namespace {

constexpr std::uint16_t kPort = 23856;

InterfaceAddress loopback(IpFamily family) {
  InterfaceAddress address;
  if (family == IpFamily::v6) {
    address.ip[15] = 1;
  } else {
    const std::uint8_t bytes[] = {0xFF, 0xFF, 127, 0, 0, 1};
    std::copy(std::begin(bytes), std::end(bytes), address.ip.begin() + 10);
  }
  return address;
}

// Expects the frames of each sender in the order in which they were sent.
struct InOrder : FrameHandler {
  void on_frame(wire::Frame frame) override {
    const auto sender = static_cast<unsigned>(frame[18]);
    EXPECT_EQ(load_be32(frame.data() + 40), next[sender]) << "of " << sender;
    next[sender] = load_be32(frame.data() + 40) + 1;
    frames++;
  }
  std::map<unsigned, std::uint32_t> next;
  std::size_t frames = 0;
};

class udp_fast_path : public testing::TestWithParam<IpFamily> {
 protected:
  void SetUp() override {
    std::string reason;
    if (network_enter(reason)) ip("link set lo up");
    if (GetParam() == IpFamily::v6) {
      OMX_SKIP_WITHOUT_IPV6();
    }
    for (std::uint8_t endpoint = 0; endpoint < 3; endpoint++) {
      auto link = udp_link_open({"lo", endpoint, kPort, true, GetParam()});
      ASSERT_TRUE(link) << link.error().message;
      links_.push_back(std::move(*link));
    }
  }
  Bytes frame(unsigned from, unsigned to, std::uint32_t number, std::size_t size = 80) {
    const NicId nic = links_[0]->interface().nic();
    Bytes bytes = make_frame(nic, nic, size, 37, static_cast<std::uint8_t>(to), 9);
    bytes[17] = static_cast<std::byte>(to);
    bytes[18] = static_cast<std::byte>(from);
    store_be32(bytes.data() + 40, number);
    return bytes;
  }
  void send(unsigned from, unsigned count, std::size_t size = 80) {
    for (unsigned i = 0; i < count; i++) frame_queue(*links_[from], frame(from, 0, sent_[from]++, size));
    links_[from]->flush();
  }
  void take_all() {
    EXPECT_TRUE(becomes_true([&] {
      links_[0]->receive(got_, 64);
      return got_.next[1] == sent_[1] && got_.next[2] == sent_[2];
    }));
  }
  // Sends one frame at a time, as in a ping-pong. Between frames are polls that find nothing.
  void one_by_one(unsigned from, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
      send(from, 1);
      take_all();
      links_[0]->receive(got_, 64);
    }
  }
  std::uint64_t alone() const { return links_[0]->counters().frames_alone; }

  std::vector<std::unique_ptr<Transport>> links_;
  std::map<unsigned, std::uint32_t> sent_;
  InOrder got_;
};

TEST_P(udp_fast_path, one_peer_alone__soon_by_its_own_socket) {
  one_by_one(1, 100);
  EXPECT_EQ(alone(), 0U);
  one_by_one(1, 500);
  EXPECT_GT(alone(), 400U);
}

TEST_P(udp_fast_path, two_peers_in_turn__by_the_common_one) {
  for (int i = 0; i < 300; i++) {
    one_by_one(1, 1);
    one_by_one(2, 1);
  }
  EXPECT_EQ(alone(), 0U);
}

TEST_P(udp_fast_path, another_peer_comes__heard_at_once_and_chosen_later) {
  one_by_one(1, 300);
  const std::uint64_t first = alone();
  ASSERT_GT(first, 0U);
  one_by_one(2, 1500);
  EXPECT_GT(alone(), first + 500);
  one_by_one(1, 20);
}

// The fast-path socket is never found empty, and yet the other peers' frames are received.
TEST_P(udp_fast_path, a_flood_of_one__does_not_silence_the_others) {
  one_by_one(1, 300);
  ASSERT_GT(alone(), 0U);
  send(1, 64);
  send(2, 1);
  for (unsigned i = 0; i < 200 && got_.next[2] == 0; i++) {
    send(1, 4);
    links_[0]->receive(got_, 2);
  }
  EXPECT_EQ(got_.next[2], 1U);
  take_all();
}

// Frames that were sent as one GSO batch still come as one.
TEST_P(udp_fast_path, gso_batches__are_not_taken_apart_for_long) {
  one_by_one(1, 1000);
  ASSERT_GT(alone(), 0U);
  const std::uint64_t before = links_[0]->counters().gso_batches_received;
  for (int i = 0; i < 50; i++) {
    send(1, 12, 1200);
    take_all();
  }
  EXPECT_GT(links_[0]->counters().gso_batches_received, before + 40);
  one_by_one(1, 600);
}

TEST_P(udp_fast_path, any_mixture__nothing_is_lost_or_overtaken) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    std::minstd_rand random(seed);
    for (int phase = 0; phase < 12; phase++) {
      const unsigned mixture = random() % 3;  // one, the other, both
      const unsigned burst = 1 + random() % 20;
      for (unsigned i = 0; i < 200; i++) {
        send(mixture == 2 ? 1 + random() % 2 : 1 + mixture, 1 + random() % burst, 80 + random() % 200);
        if (random() % 2) links_[0]->receive(got_, 1 + random() % 64);
        if (random() % 8 == 0) take_all();
      }
      take_all();
    }
  }
  EXPECT_GT(alone(), 0U);
}

TEST_P(udp_fast_path, asleep__woken_by_either) {
  one_by_one(1, 300);
  ASSERT_GT(alone(), 0U);
  for (const unsigned from : {1U, 2U}) {
    send(from, 1);
    pollfd waits[] = {{links_[0]->descriptor(), POLLIN, 0},
                      {links_[0]->datagram()->fast_path_descriptor(), POLLIN, 0}};
    EXPECT_EQ(::poll(waits, 2, 5000), 1);
    EXPECT_EQ(waits[from == 1 ? 1 : 0].revents, POLLIN);
    if (from == 2) {
      // The main socket has been empty for long, and is polled rarely.
      EXPECT_EQ(links_[0]->receive(got_, 64), 0U);
      links_[0]->datagram()->main_poll();
      EXPECT_EQ(links_[0]->receive(got_, 64), 1U);
    }
    take_all();
    for (int i = 0; i < 100; i++) links_[0]->receive(got_, 64);
    EXPECT_EQ(::poll(waits, 2, 0), 0);
  }
}

// The peer closed. That is reported as for any other peer, and does not keep a sleeping thread awake.
TEST_P(udp_fast_path, refused__is_told_and_forgotten) {
  struct Refusals : InOrder {
    void on_refused(wire::Frame) override { refused++; }
    unsigned refused = 0;
  } refusals;
  one_by_one(1, 300);
  ASSERT_GT(alone(), 0U);
  links_[1].reset();
  frame_send(*links_[0], frame(0, 1, 0));
  pollfd wait{links_[0]->datagram()->fast_path_descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 5000), 1);
  EXPECT_TRUE(wait.revents & POLLERR);
  EXPECT_TRUE(links_[0]->datagram()->errors_are_news());
  links_[0]->receive(refusals, 64);
  EXPECT_EQ(refusals.refused, 1U);
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  send(2, 1);
  take_all();
}

TEST_P(udp_fast_path, the_port__is_still_nobody_elses) {
  one_by_one(1, 300);
  ASSERT_GT(alone(), 0U);
  const int on = 1;
  for (const int option : {SO_REUSEADDR, SO_REUSEPORT}) {
    OwnFd fd(::socket(GetParam() == IpFamily::v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0));
    ASSERT_EQ(::setsockopt(fd.get(), SOL_SOCKET, option, &on, sizeof on), 0);
    const SocketAddress address = socket_address(loopback(GetParam()).ip, kPort, 0);
    EXPECT_EQ(::bind(fd.get(), address.get(), address.length), -1);
    EXPECT_EQ(errno, EADDRINUSE);
  }
}

// The kernel was putting a frame into the fast-path socket when the peer was given up. No poll reads it, but
// it wakes a sleeping thread, which then asks.
TEST_P(udp_fast_path, a_straggler__is_read_when_asked_for) {
  const InterfaceAddress own = loopback(GetParam());
  OwnFd main = udp_socket_open(own, kPort + 100), peer = udp_socket_open(own, kPort + 101);
  UdpFastPath fast_path(main.get(), own, kPort + 100);
  ASSERT_GE(fast_path.descriptor(), 0);
  wire::BulkAddress from, other;
  from.ip = other.ip = own.ip;
  from.port = kPort + 101;
  other.port = kPort + 102;
  for (int i = 0; i < 1000 && !fast_path.chosen(); i++) fast_path.main_heard(from);
  ASSERT_TRUE(fast_path.chosen());
  EXPECT_FALSE(fast_path.leads()) << "what the main socket has came before";
  fast_path.main_empty();
  EXPECT_TRUE(fast_path.leads());
  const SocketAddress to = socket_address(own.ip, kPort + 100, 0);
  ASSERT_EQ(::sendto(peer.get(), "frame", 5, 0, to.get(), to.length), 5);
  pollfd wait{fast_path.descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 5000), 1);
  for (int i = 0; i < 1000 && fast_path.chosen(); i++) fast_path.main_heard(other);
  ASSERT_FALSE(fast_path.chosen());
  EXPECT_TRUE(fast_path.leads()) << "it may hold some";
  EXPECT_TRUE(fast_path.main_due());
  EXPECT_FALSE(fast_path.leads());
  fast_path.ask();
  UdpDatagram datagram;
  ASSERT_TRUE(fast_path.leads());
  EXPECT_TRUE(fast_path.receive(datagram));
  EXPECT_EQ(datagram.from(), from);
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
}

TEST_P(udp_fast_path, the_common_one__looked_at_more_rarely_while_it_is_empty) {
  const InterfaceAddress own = loopback(GetParam());
  const OwnFd main = udp_socket_open(own, kPort + 100);
  UdpFastPath fast_path(main.get(), own, kPort + 100);
  ASSERT_GE(fast_path.descriptor(), 0);
  wire::BulkAddress from;
  from.ip = own.ip;
  from.port = kPort;
  for (int i = 0; i < 1000 && !fast_path.chosen(); i++) fast_path.main_heard(from);
  ASSERT_TRUE(fast_path.chosen());
  static TimeNs now;
  now = 1'000'000;
  const auto looks = [&](TimeNs each = 0) {
    int count = 1;
    for (; count < 1000; count++) {
      now += each;
      if (fast_path.main_due([] { return now; })) break;
    }
    return count;
  };
  EXPECT_EQ(looks(), 8);
  EXPECT_EQ(looks(), 16);
  for (int i = 0; i < 10; i++) looks();
  EXPECT_EQ(looks(), 64);
  EXPECT_EQ(looks(20'000), 8) << "who looks seldom";
  EXPECT_EQ(looks(2'500), 24);
  fast_path.main_ask();
  EXPECT_EQ(looks(), 1) << "a sleeper was woken by it";
  EXPECT_EQ(looks(), 64);
  fast_path.main_heard(from);
  EXPECT_EQ(looks(), 8);
}

INSTANTIATE_TEST_SUITE_P(by, udp_fast_path, testing::Values(IpFamily::v4, IpFamily::v6),
                         [](const auto& family) { return family.param == IpFamily::v4 ? "ipv4" : "ipv6"; });

}  // namespace
}  // namespace omx::link
