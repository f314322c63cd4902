// SPDX-License-Identifier: BSD-3-Clause
// A network of its own for each test: the process moves to a new network namespace, which the kernel removes
// when the last socket in it is gone.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/own_fd.h"
#include "link/ethernet/packet_link.h"

namespace omx::link {

// False with a reason when this process may not have one.
bool network_enter(std::string& reason);

// Whether interfaces of this network namespace may have IPv6 addresses.
bool ipv6_on();

// The /sys of that namespace, for this process only. False with a reason as above.
bool sysfs_enter(std::string& reason);

// Runs `ip ARGUMENTS`; expects success.
void ip(const std::string& arguments);

NicId nic_of(const std::string& interface);

// Waits for a condition that soon becomes true; false after a minute, which even a starved machine has not
// needed.
template <class Condition>
bool becomes_true(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

// A packet socket with what arrives at the interface, without the heads of frames.
OwnFd packets_of(const std::string& interface, std::uint16_t ethertype);
// Waits for the next of them; false after a minute.
bool packet_arrives(const OwnFd& packets);

using Bytes = std::vector<std::byte>;

// A frame of `size` bytes with the head of an endpoint packet and a pattern behind it.
Bytes make_frame(NicId dst, NicId src, std::size_t size, std::uint8_t type = 37, std::uint8_t endpoint = 0,
                 std::uint8_t seed = 0);

class Collector : public FrameHandler {
 public:
  void on_frame(wire::Frame frame) override { frames.emplace_back(frame.begin(), frame.end()); }
  std::vector<Bytes> frames;
};

// Receives until `count` frames are there; false after a minute.
bool receive_until(Transport& link, Collector& collector, std::size_t count);

// Queues a whole frame: up to 320 bytes as header, longer ones with their tail as a segment.
void frame_queue(Transport& link, const Bytes& frame);
void frame_send(Transport& link, const Bytes& frame);

// Two ends of a virtual cable, v0 and v1, in a namespace of the test's own. Both ends may be in one
// namespace: frames sent on v0 arrive on v1. With OMX_LINK=udp or udp6 they have addresses, between which
// packets go over the loopback interface, that loses OMX_TEST_LOSS percent of them.
class CableTest : public testing::Test {
 protected:
  void SetUp() override;
  // Skips what is about raw frames where messages go by UDP.
  static bool by_udp();
  std::unique_ptr<Transport> open(const std::string& interface, PacketLinkOptions options = {});
  // Both ends with that MTU, up and running.
  void set_mtu(std::uint32_t mtu);

 private:
  void addresses_give(bool ipv6);
  OwnFd loss_;
};

// At the begin of a test that is about frames, the cable or the interface.
#define OMX_SKIP_BY_UDP() \
  if (by_udp()) GTEST_SKIP() << "this is about raw frames or their cable"

// At the begin of a test that gives IPv6 addresses.
#define OMX_SKIP_WITHOUT_IPV6() \
  if (!ipv6_on()) GTEST_SKIP() << "IPv6 is off here"

}  // namespace omx::link
