// SPDX-License-Identifier: BSD-3-Clause
// How programs start that name their peer by address and port. libfabric's own tests start in this way.
#include <array>
#include <cstring>

#include "libfabric/service.h"
#include "networked.h"

namespace omx::fabric::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

class Start : public NetworkedTest {
 protected:
  static Info wanted(std::uint32_t format) {
    Info h = hints(FI_MSG);
    h->addr_format = format;
    return h;
  }
  // Returns the number of the endpoint in an address of ours.
  static int endpoint_in(const void* address) {
    const auto* bytes = static_cast<const unsigned char*>(address);
    return bytes[6] << 8 | bytes[7];
  }
  static fi_addr_t insert(const End& at, const void* address) {
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    const void* const list = at.info->addr_format == FI_ADDR_STR ? &address : address;
    EXPECT_EQ(fi_av_insert(at.av, list, 1, &number, 0, nullptr), 1);
    return number;
  }
  // The client names both addresses and the port. The server learns the client's address from its first
  // message.
  void run(std::uint32_t format, const char* server, const char* client, const char* port) {
    const Info server_hints = wanted(format), client_hints = wanted(format);
    auto offers = ask(server, port, FI_SOURCE, server_hints.get());
    ASSERT_FALSE(offers.empty());
    b.open(std::move(offers.back()), {});
    offers = ask(client, nullptr, FI_SOURCE, client_hints.get());
    ASSERT_FALSE(offers.empty());
    client_hints->addr_format = offers.front()->addr_format;
    client_hints->src_addr = ::malloc(offers.front()->src_addrlen);
    client_hints->src_addrlen = offers.front()->src_addrlen;
    std::memcpy(client_hints->src_addr, offers.front()->src_addr, client_hints->src_addrlen);
    offers = ask(server ? server : "10.77.0.2", port, 0, client_hints.get());
    ASSERT_FALSE(offers.empty());
    EXPECT_STREQ(offers.front()->domain_attr->name, "v0");
    a.open(std::move(offers.front()), {});
    ASSERT_FALSE(HasFatalFailure());

    a_to_b = insert(a, a.info->dest_addr);
    const Bytes name = a.name();
    Bytes greeting(64);
    receive(b, greeting, 7);
    send(a, a_to_b, name, 7);
    const Event arrived = next(b);
    ASSERT_EQ(arrived.good.len, name.size());
    EXPECT_EQ(next(a).failed, false);
    b_to_a = insert(b, greeting.data());
    Bytes answer(8);
    receive(a, answer, 9);
    send(b, b_to_a, pattern(8, 1), 9);
    EXPECT_EQ(next(a).failed, false);
    EXPECT_EQ(next(b).failed, false);
    EXPECT_EQ(answer, pattern(8, 1));
    a.close();
    b.close();
  }
};

TEST_F(Start, two_addresses_and_a_port) {
  for (const std::uint32_t format :
       std::array<std::uint32_t, 4>{FI_FORMAT_UNSPEC, FI_SOCKADDR, FI_SOCKADDR_IN, FI_ADDR_STR}) {
    SCOPED_TRACE(format);
    run(format, "10.77.0.2", "10.77.0.1", "9228");
    if (HasFatalFailure()) return;
  }
}

// Offers for any board come in the order of the boards. The last offer is all boards together, or by UDP v1.
TEST_F(Start, server_without_an_address) {
  const Info h = wanted(FI_FORMAT_UNSPEC);
  const auto offers = ask(nullptr, "9228", FI_SOURCE, h.get());
  ASSERT_GE(offers.size(), 2U);
  for (const Info& offer : offers) EXPECT_EQ(endpoint_in(offer->src_addr), 140);
}

TEST_F(Start, ports__stand_for_endpoints) {
  const Info h = wanted(FI_FORMAT_UNSPEC);
  const std::vector<std::pair<const char*, int>> rule = {
      {"0", 0},       {"7", 7},     {"255", 255},   {"256", 128},   {"9228", 140}, {"9229", 141},
      {"27199", 191}, {"27200", 0}, {"27455", 255}, {"27456", 192}, {"65535", 255}};
  for (const auto& [port, endpoint] : rule) {
    const auto own = ask("v0", port, FI_SOURCE, h.get()), other = ask("10.77.0.9", port, 0, h.get());
    ASSERT_FALSE(own.empty() || other.empty()) << port;
    EXPECT_EQ(endpoint_in(own.front()->src_addr), endpoint) << port;
    EXPECT_EQ(endpoint_in(other.front()->dest_addr), endpoint) << port;
  }
  for (const char* bad : {"65536", "-1", "12x", "no-such-service", ""})
    EXPECT_TRUE(ask("v0", bad, FI_SOURCE, h.get()).empty()) << bad;
}

TEST(Ports, fewer_endpoints_or_another_base) {
  EXPECT_EQ(endpoint_of_port(9228, {27200, 32}), 16 + 9228 % 16);
  EXPECT_EQ(endpoint_of_port(9228, {27200, 31}), 15 + 9228 % 16);
  EXPECT_EQ(endpoint_of_port(9228, {27200, 1}), 0);
  EXPECT_EQ(endpoint_of_port(9228, {9000, 256}), 228);
  EXPECT_EQ(endpoint_of_port(65535, {65300, 256}), 235);
  for (const std::uint16_t endpoint : {0, 1, 255}) {
    const ServiceRule rule{30000, 256};
    EXPECT_EQ(endpoint_of_port(port_of_endpoint(endpoint, rule), rule), endpoint);
  }
  EXPECT_EQ(port_of_endpoint(kAnyId, {}), 0);
}

TEST_F(Start, servers_of_one_host__do_not_share_a_port) {
  const Info h = wanted(FI_FORMAT_UNSPEC);
  End first, second, third;
  first.open(ask_one("10.77.0.2", "9228", FI_SOURCE, h.get()), {});
  second.open(ask_one("10.77.0.2", "9229", FI_SOURCE, h.get()), {});
  End::Options closed;
  closed.enable = false;
  third.open(ask_one("10.77.0.2", "9228", FI_SOURCE, h.get()), closed);
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(fi_enable(third.ep), -FI_EADDRINUSE);
}

TEST_F(Start, own_names__each_is_a_board) {
  const Info h = wanted(FI_FORMAT_UNSPEC);
  const std::string mac = mac_format(link::nic_of("v1"));
  for (const char* name : {"v1", "10.77.0.2", "alpha:1", mac.c_str()})
    EXPECT_THAT(domains(ask(name, "9228", FI_SOURCE, h.get())), ElementsAre("v1")) << name;
  for (const char* name : {"alpha", "alpha:0", "localhost", "127.0.0.1", "10.77.0.1"})
    EXPECT_THAT(domains(ask(name, "9228", FI_SOURCE, h.get())), Contains("v0")) << name;
  for (const char* name : {"0.0.0.0", "::"})
    EXPECT_GE(ask(name, "9228", FI_SOURCE, h.get()).size(), 2U) << name;
  const Info told = ask_one("v1", "9228", FI_SOURCE, h.get());
  ASSERT_TRUE(told);
  for (const char* name : {"v1", "10.77.0.2", "alpha:1", mac.c_str()}) {
    const auto offers = ask(name, "9228", 0, h.get());
    ASSERT_FALSE(offers.empty()) << name;
    EXPECT_EQ(std::memcmp(offers.front()->dest_addr, told->src_addr, 32), 0) << name;
  }
  for (const char* name : {"10.77.0.9", "v9", "02:00:00:00:00:09"})
    EXPECT_TRUE(ask(name, "9228", FI_SOURCE, h.get()).empty()) << name;
}

TEST_F(Start, no_node__is_the_own_host) {
  const Info h = wanted(FI_FORMAT_UNSPEC);
  const auto offers = ask(nullptr, "9228", 0, h.get()), own = ask("v0", "9228", FI_SOURCE, h.get());
  ASSERT_FALSE(offers.empty() || own.empty());
  EXPECT_EQ(std::memcmp(offers.front()->dest_addr, own.front()->src_addr, 32), 0);
}

// The server answers if its own node is named, so the hints about the other end stay valid.
TEST_F(Start, own_node__keeps_the_destination_of_the_hints) {
  const Info h = wanted(FI_FORMAT_UNSPEC);
  const Info peer = ask_one("10.77.0.9", "9228", 0, h.get());
  ASSERT_TRUE(peer);
  std::swap(h->dest_addr, peer->dest_addr);
  h->dest_addrlen = peer->dest_addrlen;
  const Info offer = ask_one(by_udp() ? "v0" : "v1", "9229", FI_SOURCE, h.get());
  ASSERT_TRUE(offer);
  ASSERT_TRUE(offer->dest_addr);
  EXPECT_EQ(std::memcmp(offer->dest_addr, h->dest_addr, h->dest_addrlen), 0);
  EXPECT_EQ(endpoint_in(offer->src_addr), 141);
}

// Addresses of our format without a NIC, which correspond to 0.0.0.0 of sockets.
TEST_F(Start, vector__refuses_an_address_of_no_nic) {
  const Info h = wanted(FI_FORMAT_UNSPEC);
  a.open(ask_one("v0", "9228", FI_SOURCE, h.get()), {});
  ASSERT_FALSE(HasFatalFailure());
  Bytes address = a.name();
  std::fill_n(address.begin() + 8, 6, std::byte{});
  fi_addr_t number = 0;
  EXPECT_EQ(fi_av_insert(a.av, address.data(), 1, &number, 0, nullptr), 0);
  EXPECT_EQ(number, FI_ADDR_NOTAVAIL);
}

TEST_F(Start, numeric_host__no_name_is_looked_up) {
  const Info h = wanted(FI_FORMAT_UNSPEC);
  const std::string mac = mac_format(link::nic_of("v1"));
  for (const std::uint64_t flags :
       {std::uint64_t{FI_NUMERICHOST}, std::uint64_t{FI_NUMERICHOST | FI_SOURCE}}) {
    for (const char* name : {"10.77.0.2", "127.0.0.1", mac.c_str()})
      EXPECT_TRUE(ask_one(name, "9228", flags, h.get())) << name;
    for (const char* name : {"alpha", "localhost", "v1"})
      EXPECT_FALSE(ask_one(name, "9228", flags, h.get())) << name;
  }
}

// By raw frames the table of neighbours tells which interface reaches the peer. By UDP the routes tell it,
// and the first one is taken.
TEST_F(Start, peer__offered_by_the_interface_that_reaches_it) {
  const Info h = wanted(FI_FORMAT_UNSPEC);
  const auto names = domains(ask("10.77.0.9", "9228", 0, h.get()));
  EXPECT_THAT(names, Contains(by_udp() ? "v0" : "v1"));
  EXPECT_THAT(names, Not(Contains(by_udp() ? "v1" : "v0")));
  const Info source = ask_one(by_udp() ? "v1" : "v0", nullptr, FI_SOURCE, h.get());
  ASSERT_TRUE(source);
  std::swap(h->src_addr, source->src_addr);
  h->src_addrlen = source->src_addrlen;
  EXPECT_THAT(domains(ask("10.77.0.9", "9228", 0, h.get())), Contains(by_udp() ? "v1" : "v0"));
}

}  // namespace
}  // namespace omx::fabric::test
