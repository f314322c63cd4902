// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp_look.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/own_fd.h"

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

TEST(udp_port_look, open_and_closed) {
  Bound bound;
  EXPECT_EQ(udp_port_look(kLoopback, bound.port, 0, kLimitMs), UdpPort::silent);
  char byte = 0;
  EXPECT_EQ(::recv(bound.fd.get(), &byte, 1, MSG_DONTWAIT), 0) << "a datagram without data";
  bound.fd.reset();
  EXPECT_EQ(udp_port_look(kLoopback, bound.port, 0, kLimitMs), UdpPort::closed);
}

TEST(udp_port_look, no_way_there) {
  // Of no network: 240.0.0.0/4 is reserved.
  constexpr Ip kReserved{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 255, 255, 255, 255};
  EXPECT_EQ(udp_port_look(kReserved, 9, 0, kLimitMs), UdpPort::not_sent) << "broadcasts are refused";
}

}  // namespace
}  // namespace omx::link
