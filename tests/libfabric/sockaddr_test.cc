// SPDX-License-Identifier: BSD-3-Clause
// Endpoints that have IP addresses and ports as addresses.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <cstring>

#include "networked.h"

namespace omx::fabric::test {
namespace {

sockaddr_in socket_of(const char* ip, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET, ip, &address.sin_addr), 1);
  return address;
}

std::string text_of(const void* in) {
  sockaddr_in address;
  std::memcpy(&address, in, sizeof address);
  char ip[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &address.sin_addr, ip, sizeof ip);
  return std::string(ip) + ":" + std::to_string(ntohs(address.sin_port));
}

class Sockaddr : public NetworkedTest {
 protected:
  void SetUp() override {
    NetworkedTest::SetUp();
    if (IsSkipped()) return;
    const Info h = hints(FI_MSG | FI_SOURCE | FI_SOURCE_ERR);
    h->addr_format = FI_SOCKADDR_IN;
    a.open(ask_one("v0", nullptr, FI_SOURCE, h.get()), {});
    b.open(ask_one("v1", "9228", FI_SOURCE, h.get()), {});
  }
  static std::string name_of(const End& end) {
    const Bytes name = end.name();
    EXPECT_EQ(name.size(), sizeof(sockaddr_in));
    return text_of(name.data());
  }
  std::string looked_up(fi_addr_t number) const {
    sockaddr_in out{};
    std::size_t length = sizeof out;
    EXPECT_EQ(fi_av_lookup(a.av, number, &out, &length), 0);
    EXPECT_EQ(length, sizeof out);
    return text_of(&out);
  }
};

// An endpoint that was opened by a port has that port. Another has the port by which it is reached with UDP.
TEST_F(Sockaddr, getname__tells_address_and_port) {
  EXPECT_EQ(name_of(b), "10.77.0.2:9228");
  EXPECT_EQ(name_of(a), "10.77.0.1:27200");
  char small[4];
  std::size_t length = sizeof small;
  EXPECT_EQ(fi_getname(&a.ep->fid, small, &length), -FI_ETOOSMALL);
  EXPECT_EQ(length, sizeof(sockaddr_in));
}

TEST_F(Sockaddr, vector__gives_back_what_was_inserted) {
  const sockaddr_in peers[] = {socket_of("10.77.0.2", 9228), socket_of("10.77.0.9", 27203),
                               socket_of("10.77.0.9", 5)};
  fi_addr_t numbers[3];
  ASSERT_EQ(fi_av_insert(a.av, peers, 3, numbers, 0, nullptr), 3);
  EXPECT_EQ(looked_up(numbers[0]), "10.77.0.2:9228");
  EXPECT_EQ(looked_up(numbers[1]), "10.77.0.9:27203");
  EXPECT_EQ(looked_up(numbers[2]), "10.77.0.9:5");
  char text[64];
  std::size_t length = sizeof text;
  EXPECT_STREQ(fi_av_straddr(a.av, &peers[0], text, &length), "fi_sockaddr_in://10.77.0.2:9228");
}

TEST_F(Sockaddr, vector__inserts_by_name_and_service) {
  fi_addr_t numbers[4];
  ASSERT_EQ(fi_av_insertsvc(a.av, "10.77.0.2", "9228", numbers, 0, nullptr), 1);
  EXPECT_EQ(looked_up(numbers[0]), "10.77.0.2:9228");
  ASSERT_EQ(fi_av_insertsym(a.av, "10.77.0.1", 2, "9228", 2, numbers, 0, nullptr), 4);
  EXPECT_EQ(looked_up(numbers[0]), "10.77.0.1:9228");
  EXPECT_EQ(looked_up(numbers[3]), "10.77.0.2:9229");
}

TEST_F(Sockaddr, vector__refuses_what_names_nobody) {
  sockaddr_in other_family = socket_of("10.77.0.2", 9228);
  other_family.sin_family = AF_INET6;
  const sockaddr_in bad[] = {socket_of("10.77.0.2", 0), other_family, socket_of("0.0.0.0", 9228)};
  fi_addr_t numbers[3] = {0, 0, 0};
  int errors[3] = {0, 0, 0};
  EXPECT_EQ(fi_av_insert(a.av, bad, 3, numbers, FI_SYNC_ERR, errors), 0);
  EXPECT_THAT(numbers, testing::Each(FI_ADDR_NOTAVAIL));
  EXPECT_THAT(errors, testing::Each(FI_EINVAL));
}

// Each address leads to the same NIC, and stays as it is after the kernel has forgotten it.
TEST_F(Sockaddr, vector__keeps_each_address_of_a_nic) {
  for (const char* peer : {"10.77.0.28", "10.77.0.29"})
    link::ip(fmt::format("neigh replace {} lladdr 02:00:00:00:00:29 dev v1 nud permanent", peer));
  const sockaddr_in peers[] = {socket_of("10.77.0.28", 9228), socket_of("10.77.0.29", 9228)};
  fi_addr_t numbers[3];
  ASSERT_EQ(fi_av_insert(a.av, peers, 2, numbers, 0, nullptr), 2);
  ASSERT_EQ(fi_av_insertsvc(a.av, "10.77.0.29", "9229", numbers + 2, 0, nullptr), 1);
  for (const char* peer : {"10.77.0.28", "10.77.0.29"}) link::ip(fmt::format("neigh del {} dev v1", peer));
  EXPECT_EQ(looked_up(numbers[0]), "10.77.0.28:9228");
  EXPECT_EQ(looked_up(numbers[1]), "10.77.0.29:9228");
  EXPECT_EQ(looked_up(numbers[2]), "10.77.0.29:9229");
}

TEST_F(Sockaddr, getname__the_own_address_that_was_asked_for) {
  if (by_udp()) GTEST_SKIP() << "by UDP an interface has one address";
  link::ip("address add 10.77.0.31/24 dev v0");
  const Info h = hints(FI_MSG);
  h->addr_format = FI_SOCKADDR_IN;
  End second;
  second.open(ask_one("10.77.0.31", "9230", FI_SOURCE, h.get()), {});
  link::ip("address del 10.77.0.31/24 dev v0");
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(name_of(second), "10.77.0.31:9230");
  EXPECT_EQ(name_of(a), "10.77.0.1:27200");
  second.close();
}

TEST_F(Sockaddr, vector__says_that_no_ip_address_is_known) {
  if (by_udp()) GTEST_SKIP() << "by UDP the MAC address of another host is refused";
  fi_addr_t number = FI_ADDR_NOTAVAIL;
  ASSERT_EQ(fi_av_insertsvc(a.av, "02:00:00:00:00:77", "9228", &number, 0, nullptr), 1);
  sockaddr_in out{};
  std::size_t length = sizeof out;
  EXPECT_EQ(fi_av_lookup(a.av, number, &out, &length), -FI_ENODATA);
}

// By UDP the host may come up later. A frame needs the host's MAC address now.
TEST_F(Sockaddr, vector__takes_an_address_that_nobody_has_by_udp_only) {
  const sockaddr_in nobody = socket_of("10.77.0.77", 9228);
  fi_addr_t number = 0;
  int error = 0;
  EXPECT_EQ(fi_av_insert(a.av, &nobody, 1, &number, FI_SYNC_ERR, &error), by_udp() ? 1 : 0);
  EXPECT_EQ(error, by_udp() ? 0 : FI_EHOSTUNREACH);
  EXPECT_EQ(number == FI_ADDR_NOTAVAIL, !by_udp());
}

TEST_F(Sockaddr, messages__and_their_sources) {
  a_to_b = a.learn(b);
  b_to_a = b.learn(a);
  Bytes memory(100);
  receive(b, memory, 1);
  send(a, a_to_b, pattern(100, 3), 1);
  EXPECT_EQ(next(b).source, b_to_a);
  EXPECT_FALSE(next(a).failed);
  EXPECT_EQ(memory, pattern(100, 3));
}

// A sender that is not in the vector is reported by an address that can be inserted.
TEST_F(Sockaddr, unknown_source__is_an_address_of_a_socket) {
  a_to_b = a.learn(b);
  Bytes memory(10);
  receive(b, memory, 1);
  send(a, a_to_b, pattern(10, 3), 1);
  const Event event = next(b);
  ASSERT_TRUE(event.failed);
  EXPECT_EQ(event.error.err, FI_EADDRNOTAVAIL);
  ASSERT_EQ(event.error.err_data_size, sizeof(sockaddr_in));
  EXPECT_EQ(text_of(event.error.err_data), "10.77.0.1:27200");
  EXPECT_FALSE(next(a).failed);
}

}  // namespace
}  // namespace omx::fabric::test
