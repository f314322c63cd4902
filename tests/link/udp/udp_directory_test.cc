// SPDX-License-Identifier: BSD-3-Clause
// Tests of NIC ids of IP addresses, and of where frames for them go.
#include "link/udp/udp_directory.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <set>

namespace omx::link {
namespace {

Ip ip6(const std::string& text) {
  Ip ip{};
  EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), ip.data()), 1) << text;
  return ip;
}

// Returns another address with the same id, by adding the polynomial of CRC-32C.
Ip twin_of(Ip ip) {
  constexpr std::uint64_t kPolynomial = 1 | std::uint64_t{0x82F63B78} << 1;
  for (std::size_t i = 0; i < 8; i++) ip[8 + i] ^= static_cast<std::uint8_t>(kPolynomial >> 8 * i);
  return ip;
}

UdpRoutes routes_of(const std::string& own) {
  return UdpRoutes({ip6(own), 64, 1});
}

TEST(udp_nic, ipv4__is_the_address) {
  EXPECT_EQ(udp_nic(ip6("::ffff:10.77.0.1")), 0x0A550A4D0001U);
  EXPECT_EQ(wire::udp_ipv4(0x0A550A4D0001), ip6("::ffff:10.77.0.1"));
  EXPECT_EQ(wire::udp_family(0x0A550A4D0001), IpFamily::v4);
  EXPECT_EQ(wire::udp_family(0x024F4D580001), IpFamily::any);
  EXPECT_FALSE(wire::udp_ipv4(0x024F4D580001));
}

// The value follows docs/reference/wire.md 16; another program computed the sum.
TEST(udp_nic, ipv6__is_a_checksum_of_the_address) {
  const NicId nic = udp_nic(ip6("fd4f:4d58::1"));
  EXPECT_EQ(nic, 0x0A5623A86E94U);
  EXPECT_EQ(wire::udp_family(nic), IpFamily::v6);
  EXPECT_FALSE(wire::udp_ipv4(nic));
}

TEST(udp_nic, ipv6__differs_within_a_network) {
  std::set<NicId> seen;
  Ip ip = ip6("2001:db8::");
  for (unsigned i = 0; i < 40000; i++) {
    ip[15] = static_cast<std::uint8_t>(i);
    ip[14] = static_cast<std::uint8_t>(i >> 8);
    ip[12] = static_cast<std::uint8_t>(i * 7);
    EXPECT_TRUE(seen.insert(udp_nic(ip)).second) << i;
  }
}

TEST(udp_directory, told__the_first_with_an_id_has_it) {
  UdpDirectory directory;
  const Ip ip = ip6("fd00::1"), twin = twin_of(ip);
  ASSERT_EQ(udp_nic(ip), udp_nic(twin));
  EXPECT_FALSE(directory.find(udp_nic(ip)));
  EXPECT_TRUE(directory.told(ip));
  EXPECT_TRUE(directory.told(ip));
  EXPECT_FALSE(directory.told(twin));
  directory.heard(twin);
  EXPECT_EQ(directory.find(udp_nic(ip)), ip);
}

TEST(udp_directory, told__is_better_than_heard) {
  UdpDirectory directory;
  const Ip ip = ip6("fd00::1"), twin = twin_of(ip);
  directory.heard(twin);
  EXPECT_EQ(directory.find(udp_nic(ip)), twin);
  const std::uint32_t version = directory.version();
  EXPECT_TRUE(directory.told(ip));
  EXPECT_NE(directory.version(), version);
  EXPECT_EQ(directory.find(udp_nic(ip)), ip);
}

TEST(udp_routes, ipv4__needs_no_memory) {
  UdpRoutes routes = routes_of("::ffff:10.0.0.1");
  const Ip other = ip6("::ffff:10.0.0.2");
  EXPECT_EQ(routes.to(udp_nic(other)), other);
  EXPECT_EQ(routes.from(other), udp_nic(other));
  EXPECT_FALSE(routes.to(udp_nic(ip6("fd00::2"))));
  EXPECT_FALSE(routes.to(0x024F4D580001));
  EXPECT_EQ(routes.from(ip6("fd00::2")), 0U);
}

TEST(udp_routes, ipv6__asks_the_group_of_whom_nobody_knows) {
  UdpRoutes routes = routes_of("fd01::1");
  const Ip other = ip6("fd01::2");
  const NicId nic = udp_nic(other);
  EXPECT_EQ(routes.to(nic), wire::udp_group(nic));
  EXPECT_EQ(wire::udp_group(nic)[0], 0xFF);
  EXPECT_EQ(routes.from(other), nic);
  EXPECT_FALSE(udp_directory().find(nic)) << "whoever sends fills nobody's memory";
  EXPECT_EQ(routes.to(nic), other) << "an answer";
  EXPECT_EQ(udp_directory().find(nic), other);
  EXPECT_FALSE(routes.to(udp_nic(ip6("::ffff:10.0.0.1"))));
}

TEST(udp_routes, ipv6__no_second_address_has_an_id) {
  UdpRoutes routes = routes_of("fd02::1");
  const Ip right = ip6("fd02::2"), liar = twin_of(right);
  const NicId nic = udp_nic(right);
  EXPECT_EQ(routes.from(right), nic);
  EXPECT_EQ(routes.from(liar), 0U) << "of two unknown peers the first";
  EXPECT_EQ(routes.to(nic), right);
  EXPECT_EQ(routes.from(liar), 0U);
  EXPECT_EQ(routes.from(right), nic);
}

TEST(udp_routes, ipv6__what_is_told_ends_what_was_heard) {
  UdpRoutes routes = routes_of("fd03::1");
  const Ip right = ip6("fd03::2"), liar = twin_of(right);
  const NicId nic = udp_nic(right);
  EXPECT_EQ(routes.from(liar), nic);
  EXPECT_EQ(routes.to(nic), liar);
  ASSERT_TRUE(udp_directory().told(right));
  EXPECT_EQ(routes.to(nic), right);
  EXPECT_EQ(routes.from(liar), 0U);
  EXPECT_EQ(routes.from(right), nic);
}

TEST(udp_routes, ipv6__unknown_peers_are_forgotten) {
  UdpRoutes routes = routes_of("fd04::1");
  Ip many = ip6("fd04::100:0");
  const Ip first = ip6("fd04::2");
  EXPECT_EQ(routes.from(first), udp_nic(first));
  for (unsigned i = 0; i < 1000; i++) {
    many[14] = static_cast<std::uint8_t>(i >> 8);
    many[15] = static_cast<std::uint8_t>(i);
    EXPECT_EQ(routes.from(many), udp_nic(many));
  }
  EXPECT_EQ(routes.to(udp_nic(first)), wire::udp_group(udp_nic(first)));
  EXPECT_EQ(routes.to(udp_nic(many)), many);
}

}  // namespace
}  // namespace omx::link
