// SPDX-License-Identifier: BSD-3-Clause
// Tests of the kernel's table of neighbours, in a network that the test makes.
#include "link/udp/neighbours.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>

#include "tests/support/test_network.h"

namespace omx::link {
namespace {

class neighbours : public CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    OMX_SKIP_BY_UDP();
    if (IsSkipped()) return;
    ip("address add 10.77.0.1/24 dev v0");
    ip("address add 10.77.0.3/24 dev v0 label v0:1");
  }
  static Ip ipv4(std::uint8_t last) { return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 0, last}; }

  static std::vector<Neighbour> find(const Ip& ip) {
    Netlink kernel(NETLINK_ROUTE);  // of the test's namespace
    return neighbours_find(kernel, ip);
  }
};

TEST_F(neighbours, find__what_the_kernel_would_use) {
  ip("neigh add 10.77.0.2 lladdr 02:00:00:00:00:02 dev v0 nud permanent");
  ip("neigh add 10.77.0.2 lladdr 02:00:00:00:00:12 dev v1 nud stale");
  ip("neigh add 10.77.0.4 dev v0 nud failed");
  ip("neigh add proxy 10.77.0.5 dev v0");
  const auto found = find(ipv4(2));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].interface == "v0" ? found[0].mac : found[1].mac, 0x020000000002U);
  EXPECT_EQ(found[0].interface == "v1" ? found[0].mac : found[1].mac, 0x020000000012U);
  for (const std::uint8_t none : {1, 4, 5, 6}) EXPECT_TRUE(find(ipv4(none)).empty());
}

TEST_F(neighbours, find__ipv6) {
  OMX_SKIP_WITHOUT_IPV6();
  ip("neigh add fd4f::2 lladdr 02:00:00:00:00:62 dev v0 nud reachable");
  Ip address{0xFD, 0x4F};
  address[15] = 2;
  const auto found = find(address);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].mac, 0x020000000062U);
}

TEST_F(neighbours, address__of_a_mac) {
  OMX_SKIP_WITHOUT_IPV6();
  Netlink kernel(NETLINK_ROUTE);
  EXPECT_FALSE(neighbour_address(kernel, 0x020000000002));
  ip("neigh add 10.77.0.2 lladdr 02:00:00:00:00:02 dev v0 nud stale");
  ip("neigh add fd4f::2 lladdr 02:00:00:00:00:02 dev v0 nud reachable");
  ip("neigh add 10.77.0.4 lladdr 02:00:00:00:00:04 dev v0 nud reachable");
  const auto two = neighbour_address(kernel, 0x020000000002);
  ASSERT_TRUE(two);
  EXPECT_EQ(ip_text(two->ip), "10.77.0.2");
  EXPECT_FALSE(two->reachable);
  EXPECT_EQ(two->ifindex, ::if_nametoindex("v0"));
  const auto four = neighbour_address(kernel, 0x020000000004);
  ASSERT_TRUE(four);
  EXPECT_TRUE(four->reachable);
}

TEST_F(neighbours, address__of_a_mac_and_a_family) {
  OMX_SKIP_WITHOUT_IPV6();
  ip("neigh add 10.77.0.9 lladdr 02:00:00:00:00:02 dev v0 nud permanent");
  ip("neigh add 10.77.0.8 lladdr 02:00:00:00:00:02 dev v0 nud permanent");
  ip("neigh add fe80::2 lladdr 02:00:00:00:00:02 dev v0 nud permanent");
  Netlink kernel(NETLINK_ROUTE);
  const auto text_of = [&](IpFamily family) {
    return ip_text(neighbour_address(kernel, 0x020000000002, family).value_or(NeighbourAddress{}).ip);
  };
  EXPECT_EQ(text_of(IpFamily::v4), "10.77.0.8");
  EXPECT_EQ(text_of(IpFamily::v6), "fe80::2");
  EXPECT_FALSE(neighbour_address(kernel, 0x020000000003, IpFamily::v4));
}

TEST_F(neighbours, route_source__the_own_address_towards_it) {
  EXPECT_EQ(route_source(ipv4(2)), ipv4(1));
  Ip elsewhere = ipv4(2);
  elsewhere[12] = 11;
  EXPECT_FALSE(route_source(elsewhere));
}

TEST_F(neighbours, own_addresses__with_their_interface) {
  std::vector<std::string> texts;
  for (const HostAddress& own : host_addresses()) {
    if (!is_ipv4(own.address.ip) || own.loopback) continue;
    texts.push_back(own.interface + " " + ip_text(own.address.ip));
    EXPECT_EQ(own.address.network_bits, 96U + 24);
    EXPECT_NE(own.address.ifindex, 0U);
  }
  EXPECT_THAT(texts, testing::UnorderedElementsAre("v0 10.77.0.1", "v0 10.77.0.3"));
}

// The kernel broadcasts its question on that interface, whatever the routes are.
TEST_F(neighbours, ask__by_that_interface) {
  ip("route add 10.77.0.2/32 dev v1");
  const OwnFd socket = packets_of("v1", ETH_P_ARP);
  const auto own = host_addresses();
  const auto from = std::ranges::find(own, ipv4(1), [](const HostAddress& a) { return a.address.ip; });
  ASSERT_NE(from, own.end());
  EXPECT_EQ(neighbour_ask(ipv4(2), *from), 0);
  ASSERT_TRUE(packet_arrives(socket));
  std::uint8_t arp[64];
  ASSERT_GE(::recv(socket.get(), arp, sizeof arp, 0), 28);
  EXPECT_THAT(std::vector(arp + 24, arp + 28), testing::ElementsAre(10, 77, 0, 2));  // the target
}

// Over IPv6 the router of that network gets the datagram, and drops it because of its hop limit.
TEST_F(neighbours, ask__no_router_forwards_it) {
  OMX_SKIP_WITHOUT_IPV6();
  ip("address add fd4f::1/64 dev v0 nodad");
  ip(fmt::format("neigh add fd4f::2 lladdr {} dev v0 nud permanent", mac_format(nic_of("v1"))));
  ip("route add fd4f::9/128 via fd4f::2");
  const OwnFd socket = packets_of("v1", ETH_P_IPV6);
  Ip mine{0xFD, 0x4F}, other = mine;
  mine[15] = 1;
  other[15] = 9;
  const auto own = host_addresses();
  const auto from = std::ranges::find(own, mine, [](const HostAddress& a) { return a.address.ip; });
  ASSERT_NE(from, own.end());
  EXPECT_EQ(neighbour_ask(other, *from), 0);
  std::uint8_t packet[128];
  do {  // the kernel's own packets are no datagrams
    ASSERT_TRUE(packet_arrives(socket));
    ASSERT_GE(::recv(socket.get(), packet, sizeof packet, 0), 40);
  } while (packet[6] != IPPROTO_UDP);
  EXPECT_EQ(packet[7], 1) << "the hop limit";
}

}  // namespace
}  // namespace omx::link
