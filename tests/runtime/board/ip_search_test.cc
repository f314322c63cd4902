// SPDX-License-Identifier: BSD-3-Clause
// Finds NICs by IP address with facts that are made up: two boards, one of them a port of a bridge.
#include "runtime/board/ip_search.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>

#include <map>

namespace omx::runtime {
namespace {

using link::HostAddress;
using link::Ip;
using link::Neighbour;
using testing::AllOf;
using testing::HasSubstr;

Ip ip_of(const char* text) {
  Ip ip{};
  if (::inet_pton(AF_INET6, text, ip.data()) == 1) return ip;
  ip[10] = ip[11] = 0xFF;
  EXPECT_EQ(::inet_pton(AF_INET, text, &ip[12]), 1) << text;
  return ip;
}

HostAddress own_of(const char* interface, const char* address, unsigned bits) {
  HostAddress own;
  own.interface = interface;
  own.address.ip = ip_of(address);
  own.address.network_bits = link::is_ipv4(own.address.ip) ? 96 + bits : bits;
  own.loopback = own.interface == "lo";
  return own;
}

class ip_search : public testing::Test {
 protected:
  ip_search() {
    board_add("eth0", "", 0x02'00'00'00'00'01);
    board_add("eth1", "br0", 0x02'00'00'00'00'02);
    facts_.own = {own_of("lo", "127.0.0.1", 8),    own_of("lo", "10.5.5.5", 32),
                  own_of("eth0", "10.77.0.1", 24), own_of("eth0", "fd4f::1", 64),
                  own_of("br0", "10.78.0.1", 24),  own_of("docker0", "172.17.0.1", 16)};
    facts_.neighbours = [this](const Ip& ip) {
      return table_.contains(ip) ? std::vector{table_[ip]} : std::vector<Neighbour>();
    };
    facts_.ask = [this](const Ip& ip, const HostAddress& from) {
      asked_.push_back(from.interface + " " + link::ip_text(ip));
      if (answers_.contains(ip)) table_[ip] = answers_[ip];
    };
  }
  void board_add(const char* name, const char* master, NicId nic) {
    Board board;
    board.number = static_cast<std::uint32_t>(boards_.size());
    board.interface.name = name;
    board.interface.master = master;
    board.interface.nic = board.mac = nic;
    boards_.push_back(board);
  }
  Result<NicFound> find(std::vector<Ip> ips, std::uint32_t limit_ms = 20) {
    return nic_by_ip(boards_, ips, "node7", facts_, {limit_ms, [this] { turns_++; }});
  }
  Result<NicFound> find(const char* ip, std::uint32_t limit_ms = 20) {
    return find(std::vector{ip_of(ip)}, limit_ms);
  }

  std::vector<Board> boards_;
  IpFacts facts_;
  std::map<Ip, Neighbour> table_, answers_;
  std::vector<std::string> asked_;
  int turns_ = 0;
};

TEST_F(ip_search, own_addresses__are_boards) {
  EXPECT_EQ(find("10.77.0.1")->board, &boards_[0]);
  EXPECT_EQ(find("fd4f::1")->nic, boards_[0].interface.nic);
  EXPECT_EQ(find("10.78.0.1")->board, &boards_[1]);  // by the bridge's address
  EXPECT_EQ(find("127.0.1.1")->board, &boards_[0]);  // as Debian names its own host
  EXPECT_EQ(find("::1")->board, &boards_[0]);
  EXPECT_EQ(find("10.5.5.5")->board, &boards_[0]);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(ip_search, own_address_of_no_board__names_the_interface) {
  const auto found = find("172.17.0.1");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().mx_code, 28);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("docker0"), HasSubstr("OMX_INTERFACES")));
}

TEST_F(ip_search, neighbour__is_in_the_table_already) {
  table_[ip_of("10.77.0.9")] = {"eth0", 0x02'00'00'00'00'09};
  table_[ip_of("10.78.0.8")] = {"br0", 0x02'00'00'00'00'08};
  EXPECT_EQ(find("10.77.0.9")->nic, 0x02'00'00'00'00'09U);
  EXPECT_EQ(find("10.78.0.8")->board, &boards_[1]);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(ip_search, neighbour__is_asked_for_where_its_network_is) {
  answers_[ip_of("10.78.0.8")] = {"br0", 0x02'00'00'00'00'08};
  EXPECT_EQ(find("10.78.0.8")->nic, 0x02'00'00'00'00'08U);
  EXPECT_THAT(asked_, testing::ElementsAre("br0 10.78.0.8"));
  EXPECT_GT(turns_, 0);
}

// Raw frames carry a NIC's id only, so callers keep the address that led to it. An address of the loopback
// interface would mean another host elsewhere.
TEST_F(ip_search, found__with_the_address_that_led_there) {
  table_[ip_of("10.77.0.9")] = {"eth0", 0x02'00'00'00'00'09};
  answers_[ip_of("10.78.0.8")] = {"br0", 0x02'00'00'00'00'08};
  for (const char* ip : {"10.77.0.9", "10.78.0.8", "10.77.0.1"}) EXPECT_EQ(find(ip)->ip, ip_of(ip)) << ip;
  EXPECT_EQ(find({ip_of("fd99::9"), ip_of("10.77.0.9")})->ip, ip_of("10.77.0.9"));
  for (const char* ip : {"127.0.0.1", "::1"}) EXPECT_FALSE(find(ip)->ip) << ip;
}

// A name may have addresses that this host cannot reach, beside one that it can.
TEST_F(ip_search, several_addresses__the_one_that_answers) {
  answers_[ip_of("10.77.0.9")] = {"eth0", 0x02'00'00'00'00'09};
  EXPECT_EQ(find({ip_of("fd99::9"), ip_of("172.17.0.9"), ip_of("10.77.0.9")})->nic, 0x02'00'00'00'00'09U);
}

TEST_F(ip_search, neighbour_of_no_board__is_none) {
  table_[ip_of("172.17.0.9")] = {"docker0", 0x02'00'00'00'00'09};
  const auto found = find("172.17.0.9");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("eth0 10.77.0.1"), HasSubstr("br0 10.78.0.1"), HasSubstr("OMX_LINK=udp")));
}

TEST_F(ip_search, no_answer__says_how_long_it_asked) {
  const auto found = find("10.77.0.9");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().mx_code, 28);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("node7"), HasSubstr("on eth0 within 20 ms"), HasSubstr("OMX_DISCOVERY_MS")));
}

TEST_F(ip_search, boards_of_one_network) {
  EXPECT_FALSE(boards_share_network(boards_[0], boards_[1], facts_.own));
  facts_.own.push_back(own_of("eth0", "fe80::1", 64));
  facts_.own.push_back(own_of("br0", "fe80::2", 64));  // every network has such addresses
  facts_.own.push_back(own_of("br0", "10.77.0.3", 32));
  EXPECT_FALSE(boards_share_network(boards_[0], boards_[1], facts_.own));
  facts_.own.push_back(own_of("br0", "10.77.0.4", 24));
  EXPECT_TRUE(boards_share_network(boards_[0], boards_[1], facts_.own));
}

TEST_F(ip_search, not_asked) {
  const auto found = find("10.77.0.9", 0);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("OMX_DISCOVERY_MS=0"));
  EXPECT_TRUE(asked_.empty());
}

}  // namespace
}  // namespace omx::runtime
