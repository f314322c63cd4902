// SPDX-License-Identifier: BSD-3-Clause
// Tests of the link for processes without privileges, over the loopback.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <net/if.h>
#include <poll.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/own_fd.h"
#include "link/udp/udp_address.h"
#include "link/udp/udp_datagram.h"
#include "link/udp/udp_link.h"
#include "link/udp/udp_socket.h"
#include "tests/support/test_network.h"
#include "wire/codec.h"

namespace omx::link {
namespace {

using testing::HasSubstr;

constexpr std::uint16_t kPort = 23456;
constexpr NicId kLoopbackNic = 0x0A557F000001;

struct Refusals : Collector {
  void on_refused(wire::Frame frame) override { refused.emplace_back(frame.begin(), frame.end()); }
  std::vector<Bytes> refused;
};

class udp_link : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    isolated_ = network_enter(reason);  // ports of our own where possible
    if (isolated_) ip("link set lo up");
  }
  static std::unique_ptr<Transport> open(std::uint8_t endpoint, std::uint16_t port = kPort) {
    auto link = udp_link_open({"lo", endpoint, port, true});
    EXPECT_TRUE(link) << (link ? "" : link.error().message);
    return link ? std::move(*link) : nullptr;
  }
  // TINY names its destination endpoint at F17, and its source endpoint at F18.
  static Bytes tiny(NicId to, std::uint8_t endpoint, std::size_t size = 80, NicId from = kLoopbackNic,
                    std::uint8_t source = 0) {
    Bytes frame = make_frame(to, from, size, 37, endpoint, 9);
    frame[17] = static_cast<std::byte>(endpoint);
    frame[18] = static_cast<std::byte>(source);
    return frame;
  }
  bool isolated_ = false;
};

// A handler of the application runs inside on_frame(), without the endpoint's lock. Meanwhile other threads
// ask whether something is there.
struct Interrupted : Collector {
  void on_frame(wire::Frame frame) override {
    const Bytes before(frame.begin(), frame.end());
    EXPECT_TRUE(link->pending());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), frame.begin(), frame.end()))
        << "the frame was overwritten while it was handed over";
    Collector::on_frame(frame);
  }
  Transport* link = nullptr;
};

TEST_F(udp_link, pending__leaves_the_frame_alone_that_is_being_handed_over) {
  const auto a = open(1), b = open(2);
  Interrupted seen;
  seen.link = b.get();
  // Two datagrams, which no batch carries together.
  frame_send(*a, tiny(kLoopbackNic, 2, 80, kLoopbackNic, 1));
  Bytes second = tiny(kLoopbackNic, 2, 100, kLoopbackNic, 1);
  second[60] = ~second[60];
  frame_send(*a, second);
  EXPECT_TRUE(receive_until(*b, seen, 2));
  EXPECT_EQ(seen.frames[0].size(), 80U);
  EXPECT_EQ(seen.frames[1].size(), 100U);
}

TEST_F(udp_link, nic__is_made_of_the_address) {
  const auto link = open(3);
  EXPECT_EQ(link->interface().nic(), kLoopbackNic);
  EXPECT_EQ(link->interface().mtu(), 65507U - 14U) << "a datagram, not the loopback's 65536";
}

TEST_F(udp_link, interface_made_again__follows_when_its_address_is_back) {
  if (!isolated_) GTEST_SKIP() << "no network namespace of its own";
  const auto make = [](const char* address) {
    ip("link add e0 type veth peer name e1");
    ip("link set e1 up");
    ip("link set e0 up");
    ip(std::string("address add ") + address + "/24 dev e0");
  };
  make("10.9.0.1");
  auto a = udp_link_open({"e0", 0, kPort, false}), b = udp_link_open({"e0", 1, kPort, false});
  ASSERT_TRUE(a && b);
  const NicId nic = (*a)->interface().nic();
  ip("link del e0");
  EXPECT_FALSE((*a)->interface().refresh());
  EXPECT_EQ((*a)->interface().outage(), Outage::gone);
  make("10.9.0.7");
  EXPECT_FALSE((*a)->interface().refresh());
  EXPECT_EQ((*a)->interface().outage(), Outage::replaced) << "peers know another address";
  EXPECT_NE((*a)->interface().follow(), 0);
  ip("address flush dev e0");
  ip("address add 10.9.0.1/24 dev e0");
  for (const auto* link : {&a, &b}) {
    EXPECT_FALSE((**link)->interface().refresh());
    ASSERT_EQ((**link)->interface().outage(), Outage::returned);
    ASSERT_EQ((**link)->interface().follow(), 0);
    EXPECT_TRUE(becomes_true([&] { return (**link)->interface().refresh(); }));
    EXPECT_EQ((**link)->interface().outage(), Outage::none);
  }
  frame_send(**a, tiny(nic, 1, 80, nic));
  Collector got;
  EXPECT_TRUE(receive_until(**b, got, 1));
}

TEST_F(udp_link, another_interface_with_its_index__is_not_taken_for_it) {
  if (!isolated_) GTEST_SKIP() << "no network namespace of its own";
  ip("link add e0 type veth peer name e1");
  ip("link set e0 up");
  ip("link set e1 up");
  ip("address add 10.9.0.1/24 dev e0");
  const std::string index = std::to_string(::if_nametoindex("e0"));
  auto a = udp_link_open({"e0", 0, kPort, false});
  ASSERT_TRUE(a);
  EXPECT_TRUE(becomes_true([&] { return (*a)->interface().refresh(); }));
  ip("link set e0 down");
  ip("link set e0 name renamed");
  ip("link set renamed up");
  EXPECT_TRUE(becomes_true([&] { return (*a)->interface().refresh(); })) << "still the same";
  ip("link del renamed");
  ip("link add intruder index " + index + " type veth peer name e1");
  ip("link set intruder up");
  EXPECT_FALSE((*a)->interface().refresh());
  EXPECT_EQ((*a)->interface().outage(), Outage::gone);
}

TEST_F(udp_link, ipv6__does_the_same) {
  OMX_SKIP_WITHOUT_IPV6();
  constexpr std::uint8_t kClosed = 77;
  const auto opened = [](std::uint8_t endpoint) {
    return udp_link_open({"lo", endpoint, kPort, true, IpFamily::v6});
  };
  auto a = opened(0), b = opened(1);
  if (!a && !isolated_) GTEST_SKIP() << a.error().message;
  ASSERT_TRUE(a && b) << a.error().message;
  Ip own{};
  own[15] = 1;  // ::1
  const NicId nic = udp_nic(own);
  EXPECT_EQ((*a)->interface().nic(), nic);
  EXPECT_EQ((*a)->interface().mtu(), 65536U - 48U - 14U) << "less than a datagram holds";
  const Bytes right = tiny(nic, 1, 80, nic), lost = tiny(nic, kClosed, 80, nic);
  frame_send(**a, tiny(nic, 1, 80, kLoopbackNic));  // names another sender
  frame_send(**a, tiny(kLoopbackNic, 1, 80, nic));  // to a NIC of the other family
  frame_send(**a, lost);
  frame_send(**a, right);
  Collector collector;
  ASSERT_TRUE(receive_until(**b, collector, 1));
  EXPECT_EQ(collector.frames, std::vector<Bytes>{right});
  EXPECT_EQ((*b)->counters().frames_ignored, 1U);
  EXPECT_EQ((*a)->counters().send_errors, 1U);
  Refusals refusals;
  EXPECT_TRUE(becomes_true([&] {
    (*a)->receive(refusals, 64);
    return !refusals.refused.empty();
  }));
  EXPECT_EQ(refusals.refused, std::vector<Bytes>{lost});
  EXPECT_THAT((*a)->datagram()->complaint(nic), HasSubstr("::1 says"));
}

// Two interfaces of this host: packets for one another take no cable, but those for a group do.
TEST_F(udp_link, ipv6__an_unknown_peer_is_found_by_its_id) {
  OMX_SKIP_WITHOUT_IPV6();
  if (!isolated_) GTEST_SKIP() << "interfaces need a namespace of their own";
  ip("link add v0 type veth peer name v1");
  for (const char* name : {"v0", "v1"}) ip(std::string("link set dev ") + name + " up");
  ip("address add fd05::1/64 dev v0 nodad");
  ip("address add fd05::2/64 dev v1 nodad");
  Ip b_ip{};
  b_ip[0] = 0xFD, b_ip[1] = 5, b_ip[15] = 2;
  auto a = udp_link_open({"v0", 0, kPort, true, IpFamily::v6});
  ASSERT_TRUE(a) << a.error().message;
  frame_send(**a, tiny(udp_nic(b_ip), 0, 80, (*a)->interface().nic()));  // no process listens
  EXPECT_EQ((*a)->counters().frames_sent, 1U);
  // A second link would tell this process the peer's address, so the test opens the peer's sockets itself.
  const InterfaceAddress b{b_ip, 64, static_cast<std::uint32_t>(::if_nametoindex("v1"))};
  const OwnFd listens = udp_group_open(wire::udp_group(udp_nic(b_ip)), kPort, b.ifindex);
  const OwnFd answers = udp_socket_open(b, kPort);
  ASSERT_TRUE(listens.open() && answers.open());
  frame_send(**a, tiny(udp_nic(b_ip), 0, 80, (*a)->interface().nic()));
  UdpDatagram datagram;
  ASSERT_TRUE(becomes_true([&] { return datagram.receive(listens.get()); }));
  EXPECT_EQ(udp_nic(datagram.from().ip), (*a)->interface().nic());
  EXPECT_EQ(datagram.from().port, kPort);
}

TEST_F(udp_link, ipv6__unknown_peers_are_heard) {
  OMX_SKIP_WITHOUT_IPV6();
  if (!isolated_) GTEST_SKIP() << "interfaces need a namespace of their own";
  ip("link add v0 type veth peer name v1");
  for (const char* name : {"v0", "v1"}) ip(std::string("link set dev ") + name + " up");
  ip("address add fd06::1/64 dev v0 nodad");
  ip("address add fd06::2/64 dev v1 nodad");
  auto a = udp_link_open({"v0", 0, kPort, true, IpFamily::v6});
  ASSERT_TRUE(a) << a.error().message;
  InterfaceAddress b{{}, 64, static_cast<std::uint32_t>(::if_nametoindex("v1"))};
  b.ip[0] = 0xFD, b.ip[1] = 6, b.ip[15] = 2;
  const OwnFd asks = udp_socket_open(b, kPort + 1);
  ASSERT_TRUE(asks.open());
  const Bytes question = tiny((*a)->interface().nic(), 0, 80, udp_nic(b.ip), 1);
  const SocketAddress group = socket_address(wire::udp_group((*a)->interface().nic()), kPort, b.ifindex);
  const auto ask = [&] {
    return ::sendto(asks.get(), question.data(), question.size(), 0, group.get(), group.length);
  };
  // The socket wakes a sleeping thread. A polling thread reads it from time to time.
  ASSERT_EQ(ask(), static_cast<ssize_t>(question.size()));
  pollfd wait{(*a)->datagram()->unknown_peers_descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 5000), 1);
  (*a)->datagram()->unknown_peers_poll();
  EXPECT_TRUE((*a)->pending());
  Collector collector;
  (*a)->receive(collector, 64);
  EXPECT_EQ(collector.frames, std::vector<Bytes>{question});
  ASSERT_EQ(ask(), static_cast<ssize_t>(question.size()));
  EXPECT_TRUE(becomes_true([&] {
    if ((*a)->pending()) (*a)->receive(collector, 64);
    return collector.frames.size() == 2;
  }));
}

TEST_F(udp_link, frames__reach_the_endpoint_they_name) {
  const auto a = open(0), b = open(1), c = open(255);
  const Bytes to_b = tiny(kLoopbackNic, 1), to_c = tiny(kLoopbackNic, 255, 1400);
  frame_send(*a, to_b);
  frame_send(*a, to_c);
  Collector at_b, at_c;
  ASSERT_TRUE(receive_until(*b, at_b, 1));
  ASSERT_TRUE(receive_until(*c, at_c, 1));
  EXPECT_EQ(at_b.frames, std::vector<Bytes>{to_b});
  EXPECT_EQ(at_c.frames, std::vector<Bytes>{to_c});
  EXPECT_FALSE(b->pending());
  EXPECT_EQ(a->counters().frames_sent, 2U);
}

// A poll costs no more when it receives at once. Then no descriptor reports the frame, but the link does.
TEST_F(udp_link, pending__takes_what_receive_hands_over) {
  const auto a = open(0), b = open(1);
  EXPECT_FALSE(b->pending());
  EXPECT_FALSE(b->datagram()->holds());
  frame_send(*a, tiny(kLoopbackNic, 1));
  ASSERT_TRUE(becomes_true([&] { return b->pending(); }));
  EXPECT_TRUE(b->datagram()->holds());
  EXPECT_TRUE(b->pending()) << "still";
  pollfd wait{b->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  Collector collector;
  EXPECT_EQ(b->receive(collector, 16), 1U);
  EXPECT_THAT(collector.frames, testing::ElementsAre(tiny(kLoopbackNic, 1)));
  EXPECT_FALSE(b->datagram()->holds());
  EXPECT_FALSE(b->pending());
  EXPECT_EQ(b->counters().frames_received, 1U);
}

// A frame that comes after a pause is handed over before the poll for another.
TEST_F(udp_link, receive__ends_after_the_first_frame_then_takes_all) {
  const auto a = open(0), b = open(1);
  Collector collector;
  EXPECT_EQ(b->receive(collector, 16), 0U);
  for (const std::size_t size : {80U, 90U, 100U}) frame_send(*a, tiny(kLoopbackNic, 1, size));
  EXPECT_TRUE(becomes_true([&] { return b->receive(collector, 16) == 1; }));
  EXPECT_TRUE(becomes_true([&] {
    b->receive(collector, 16);
    return collector.frames.size() == 3;
  }));
  EXPECT_EQ(collector.frames[0].size(), 80U);
  EXPECT_EQ(collector.frames[2].size(), 100U);
  EXPECT_EQ(b->receive(collector, 16), 0U);
}

TEST_F(udp_link, frames__of_one_size_are_one_batch) {
  const auto a = open(0), b = open(1);
  std::vector<Bytes> frames(30, tiny(kLoopbackNic, 1, 1400));
  for (const Bytes& frame : frames) frame_queue(*a, frame);
  a->flush();
  EXPECT_EQ(a->counters().send_calls, 1U);
  EXPECT_TRUE(becomes_true([&] { return b->pending(); }));
  Collector collector;
  ASSERT_TRUE(receive_until(*b, collector, frames.size()));
  EXPECT_EQ(collector.frames, frames);
}

TEST_F(udp_link, receive__ends_after_the_first_gso_batch_then_takes_all) {
  const auto a = open(0), b = open(1);
  Collector collector;
  EXPECT_EQ(b->receive(collector, 64), 0U);
  for (int batch = 0; batch < 3; batch++) {
    for (int i = 0; i < 4; i++) frame_queue(*a, tiny(kLoopbackNic, 1, 1000));
    a->flush();
  }
  EXPECT_TRUE(becomes_true([&] { return b->receive(collector, 64) == 4; }));
  ASSERT_TRUE(receive_until(*b, collector, 12));
  EXPECT_EQ(b->counters().gso_batches_received, 3U);
}

TEST_F(udp_link, frames__to_whom_udp_cannot_reach_are_counted) {
  const auto a = open(0);
  frame_send(*a, tiny(0x024F4D580001, 1));                           // a NIC of Ethernet
  frame_send(*a, make_frame(kLoopbackNic, kLoopbackNic, 60, 3, 0));  // HOST_QUERY: for no endpoint
  EXPECT_EQ(a->counters().send_errors, 2U);
  EXPECT_EQ(a->counters().frames_sent, 0U);
  const auto b = open(1);
  frame_send(*a, tiny(kLoopbackNic, 77));  // no process is there
  frame_send(*a, tiny(kLoopbackNic, 1));   // goes all the same
  Collector collector;
  EXPECT_TRUE(receive_until(*b, collector, 1));
}

TEST_F(udp_link, frames__must_be_from_where_they_say) {
  const auto a = open(0), b = open(1);
  frame_send(*a, tiny(kLoopbackNic, 1, 80, 0x0A557F000002));
  frame_send(*a, tiny(kLoopbackNic, 1, 80, 0x024F4D580001));
  const Bytes right = tiny(kLoopbackNic, 1);
  frame_send(*a, right);
  Collector collector;
  ASSERT_TRUE(receive_until(*b, collector, 1));
  EXPECT_EQ(collector.frames, std::vector<Bytes>{right});
  EXPECT_EQ(b->counters().frames_ignored, 2U);
}

// Only the program that has an endpoint's port speaks for the endpoint.
TEST_F(udp_link, frames__must_be_from_the_endpoint_that_they_name) {
  const auto a = open(3), b = open(1);
  const auto send = [&](std::uint8_t type, std::size_t at, std::uint8_t source) {
    Bytes frame = tiny(kLoopbackNic, 1, 80, kLoopbackNic, 1);
    frame[14] = frame[15] = frame[20] = std::byte{0};
    frame[16] = static_cast<std::byte>(type);
    if (type == 44) frame[25] = std::byte{1};  // NACK_LIB has its destination there
    store_be32(frame.data() + 28, wire::kPullMagic ^ 1);
    frame[at] = static_cast<std::byte>(source);
    frame_send(*a, frame);
    return frame;
  };
  std::vector<Bytes> right;
  for (const auto& [type, at] :
       {std::pair<std::uint8_t, std::size_t>{37, 18}, {36, 18}, {44, 17}, {42, 14}, {45, 20}}) {
    send(type, at, 4);
    right.push_back(send(type, at, 3));
  }
  right.push_back(send(42, 14, 0));  // of a release that does not name it
  Collector collector;
  ASSERT_TRUE(receive_until(*b, collector, right.size()));
  EXPECT_EQ(collector.frames, right);
  EXPECT_EQ(b->counters().frames_ignored, 5U);
}

TEST_F(udp_link, refused__is_told_with_the_frame) {
  const auto a = open(0), b = open(1);
  const Bytes lost = tiny(kLoopbackNic, 77);
  frame_send(*a, lost);
  pollfd wait{a->descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 5000), 1);
  EXPECT_TRUE(wait.revents & POLLERR);
  EXPECT_TRUE(a->datagram()->errors_are_news());
  EXPECT_TRUE(a->pending());
  Refusals refusals;
  a->receive(refusals, 64);
  EXPECT_EQ(refusals.refused, std::vector<Bytes>{lost});
  EXPECT_EQ(::poll(&wait, 1, 0), 0) << "who sleeps on it is not woken again";
  EXPECT_FALSE(a->pending());
  EXPECT_THAT(a->datagram()->complaint(kLoopbackNic), HasSubstr("127.0.0.1 says"));
  EXPECT_EQ(a->datagram()->complaint(kLoopbackNic + 1), "");
}

TEST_F(udp_link, refused__keeps_no_other_frame_back) {
  const auto a = open(0), b = open(1);
  const Bytes right = tiny(kLoopbackNic, 1);
  constexpr std::size_t kRounds = 20;
  for (std::size_t i = 0; i < kRounds; i++) {
    frame_send(*a, tiny(kLoopbackNic, 77));
    frame_send(*a, right);
    frame_send(*b, tiny(kLoopbackNic, 0, 80, kLoopbackNic, 1));
  }
  Refusals at_a;
  Collector at_b;
  EXPECT_TRUE(receive_until(*b, at_b, kRounds));
  EXPECT_TRUE(receive_until(*a, at_a, kRounds));
  EXPECT_FALSE(at_a.refused.empty());
}

// Sends an ICMP error as a router, or a forger, would. It is about a datagram from our port to `to`, and
// holds `frame`.
void icmp_unreachable(const std::string& by, const std::string& to, unsigned port, const Bytes& frame) {
  const auto put = [](Bytes& out, std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes) out.push_back(static_cast<std::byte>(byte));
  };
  in_addr from_ip{}, to_ip{};
  ASSERT_EQ(::inet_pton(AF_INET, by.c_str(), &from_ip), 1);
  ASSERT_EQ(::inet_pton(AF_INET, to.c_str(), &to_ip), 1);
  const auto total = static_cast<unsigned>(28 + frame.size());
  Bytes message;
  put(message, {3, 3, 0, 0, 0, 0, 0, 0});  // destination unreachable, port
  put(message, {0x45, 0, total >> 8, total & 255, 0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1});
  const auto* ip = reinterpret_cast<const std::uint8_t*>(&to_ip);
  put(message, {ip[0], ip[1], ip[2], ip[3]});
  put(message,
      {kPort >> 8, kPort & 255U, port >> 8U, port & 255U, (8 + static_cast<unsigned>(frame.size())) >> 8,
       (8 + static_cast<unsigned>(frame.size())) & 255, 0, 0});
  message.insert(message.end(), frame.begin(), frame.end());
  if (message.size() % 2) message.push_back({});
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < message.size(); i += 2)
    sum += static_cast<unsigned>(message[i]) << 8 | static_cast<unsigned>(message[i + 1]);
  while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
  message[2] = static_cast<std::byte>(~sum >> 8);
  message[3] = static_cast<std::byte>(~sum);
  const OwnFd fd(::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
  ASSERT_TRUE(fd.open());
  sockaddr_in source{}, target{};
  source.sin_family = target.sin_family = AF_INET;
  source.sin_addr = from_ip;
  target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&source), sizeof source), 0);
  ASSERT_EQ(::sendto(fd.get(), message.data(), message.size(), 0, reinterpret_cast<const sockaddr*>(&target),
                     sizeof target),
            static_cast<ssize_t>(message.size()));
}

TEST_F(udp_link, refused__only_by_the_host_itself_and_of_our_frames) {
  if (!isolated_) GTEST_SKIP() << "forging needs a namespace of its own";
  const auto a = open(0);
  const Bytes frame = tiny(0x0A557F000002, 5), elsewhere = tiny(0x0A557F000003, 5);
  icmp_unreachable("127.0.0.9", "127.0.0.2", kPort + 5, frame);      // a router between them
  icmp_unreachable("127.0.0.2", "127.0.0.2", kPort + 6, frame);      // not where that frame goes
  icmp_unreachable("127.0.0.2", "127.0.0.2", kPort + 5, elsewhere);  // nor is this
  icmp_unreachable("127.0.0.2", "127.0.0.2", kPort + 5, Bytes(frame.begin(), frame.begin() + 20));
  icmp_unreachable("127.0.0.2", "127.0.0.2", kPort + 5, {});
  icmp_unreachable("127.0.0.2", "127.0.0.2", kPort + 5, tiny(0x0A557F000002, 5, 80, 0x0A557F000002));
  icmp_unreachable("127.0.0.2", "127.0.0.2", kPort + 5, frame);
  Refusals refusals;
  EXPECT_TRUE(becomes_true([&] {
    a->receive(refusals, 64);
    return !refusals.refused.empty();
  }));
  EXPECT_EQ(refusals.refused, std::vector<Bytes>{frame});
  icmp_unreachable("127.0.0.9", "127.0.0.2", kPort + 5, frame);
  EXPECT_TRUE(becomes_true([&] {
    a->receive(refusals, 64);
    return a->datagram()->complaint(0x0A557F000002).find("127.0.0.9 says") == 0;
  }));
  EXPECT_EQ(refusals.refused.size(), 1U);
}

TEST_F(udp_link, open__says_what_is_wrong) {
  const auto first = open(0);
  auto second = udp_link_open({"lo", 0, kPort, true});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("OMX_UDP_PORT"));
  auto unknown = udp_link_open({"nosuch", 0, kPort, true});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("nosuch"));
  if (!isolated_) return;
  ip("link add v0 type veth peer name v1");
  auto bare = udp_link_open({"v0", 0, kPort, true, IpFamily::v4});
  ASSERT_FALSE(bare);
  EXPECT_THAT(bare.error().message, HasSubstr("no IPv4 address"));
  auto none = udp_link_open({"v0", 0, kPort, true});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no IP address"));
  ip("address add 10.9.8.7/24 dev v0");
  auto down = udp_link_open({"v0", 0, kPort, true});
  ASSERT_TRUE(down) << down.error().message;
  EXPECT_EQ((*down)->interface().nic(), 0x0A550A090807U);
  EXPECT_FALSE((*down)->interface().refresh());
}

TEST_F(udp_link, bulk__has_a_port_of_its_own) {
  const auto a = open(5);
  const BulkInfo bulk = a->udp_bulk_path()->info();
  EXPECT_EQ(bulk.address.port, kPort + 256 + 5);
  EXPECT_EQ(bulk.network_bits, 0U) << "routers may be in between";
  EXPECT_GT(a->datagram()->limits().window, 0U);
}

}  // namespace
}  // namespace omx::link
