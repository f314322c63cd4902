// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_look.h"

#include <fmt/format.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/own_fd.h"
#include "tests/support/test_network.h"

namespace omx::link {
namespace {

constexpr Ip kLoopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1};
constexpr unsigned kLimitMs = 50;

// A socket of this host, and a port that nothing else uses while it is open.
struct Bound {
  Bound() : fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    port = ntohs(at.sin_port);
  }
  OwnFd fd;
  std::uint16_t port = 0;
};

// The tests run in a network of their own. Elsewhere another process may open the port that was just closed.
class UdpPortLook : public CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    OMX_SKIP_BY_UDP();
    if (!IsSkipped()) ip("link set lo up");
  }
};

TEST_F(UdpPortLook, open_and_closed) {
  Bound bound;
  EXPECT_EQ(udp_port_look(kLoopback, bound.port, 0, kLimitMs), UdpPort::silent);
  char byte = 0;
  EXPECT_EQ(::recv(bound.fd.get(), &byte, 1, MSG_DONTWAIT), 0) << "a datagram without data";
  bound.fd.reset();
  EXPECT_EQ(udp_port_look(kLoopback, bound.port, 0, kLimitMs), UdpPort::closed);
}

TEST_F(UdpPortLook, no_way_there) {
  // 240.0.0.0/4 is reserved, so the address is in no network.
  constexpr Ip kReserved{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 255, 255, 255, 255};
  EXPECT_EQ(udp_port_look(kReserved, 9, 0, kLimitMs), UdpPort::not_sent) << "broadcasts are refused";
}

TEST_F(UdpPortLook, behind_a_router__is_not_sent) {
  constexpr Ip kNear{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 0, 2};
  constexpr Ip kFar{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 78, 0, 2};
  ip("address add 10.77.0.1/24 dev v0");
  ip(fmt::format("neigh add 10.77.0.2 lladdr {} dev v0 nud permanent", mac_format(nic_of("v1"))));
  ip("route add 10.78.0.0/24 via 10.77.0.2");
  EXPECT_EQ(udp_port_look(kFar, 9, 0, kLimitMs), UdpPort::not_sent);
  EXPECT_EQ(udp_port_look(kNear, 9, 0, kLimitMs), UdpPort::silent);
}

// The neighbour is behind that interface, whatever the routes are.
TEST_F(UdpPortLook, leaves_by_the_interface) {
  constexpr Ip kPeer{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 0, 2};
  ip("address add 10.77.0.1/24 dev v0");
  ip("route add 10.77.0.2/32 dev v1");
  ip(fmt::format("neigh add 10.77.0.2 lladdr {} dev v0 nud permanent", mac_format(nic_of("v1"))));
  const OwnFd packets = packets_of("v1", ETH_P_IP);
  EXPECT_EQ(udp_port_look(kPeer, 9, ::if_nametoindex("v0"), kLimitMs), UdpPort::silent);
  EXPECT_TRUE(packet_arrives(packets));
  EXPECT_EQ(udp_port_look(kPeer, 9, 1 << 20, kLimitMs), UdpPort::not_sent) << "there is no such interface";
}

}  // namespace
}  // namespace omx::link
