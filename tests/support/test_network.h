// SPDX-License-Identifier: BSD-3-Clause
// A network of its own for each test. The process moves to a new network namespace, which the kernel removes
// when the last socket in it is closed.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/own_fd.h"
#include "link/ethernet/packet_link.h"

namespace omx::broker {
class OmxdProcess;
}

namespace omx::link {

// Enters the namespace. Returns false with a reason when this process may not have one.
bool network_enter(std::string& reason);

// Returns whether interfaces of this network namespace may have IPv6 addresses.
bool ipv6_on();

// Mounts the /sys of that namespace, for this process only. Returns false with a reason as network_enter()
// does.
bool sysfs_enter(std::string& reason);

// Runs `ip ARGUMENTS`; expects success.
void ip(const std::string& arguments);

NicId nic_of(const std::string& interface);

// Waits for a condition that soon becomes true. Returns false after a minute, which even a starved machine
// never needed.
template <class Condition>
bool becomes_true(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

// Opens a packet socket that receives what arrives at the interface, without Ethernet headers.
OwnFd packets_of(const std::string& interface, std::uint16_t ethertype);
// Waits for the next packet. Returns false after a minute.
bool packet_arrives(const OwnFd& packets);

using Bytes = std::vector<std::byte>;

// Makes a frame of `size` bytes with the head of an endpoint packet and a pattern behind it.
Bytes make_frame(NicId dst, NicId src, std::size_t size, std::uint8_t type = 37, std::uint8_t endpoint = 0,
                 std::uint8_t seed = 0);

class Collector : public FrameHandler {
 public:
  void on_frame(wire::Frame frame) override { frames.emplace_back(frame.begin(), frame.end()); }
  std::vector<Bytes> frames;
};

// Receives until `count` frames have arrived. Returns false after a minute.
bool receive_until(Transport& link, Collector& collector, std::size_t count);

// Queues a whole frame: up to 320 bytes as header, longer ones with the rest as a segment.
void frame_queue(Transport& link, const Bytes& frame);
void frame_send(Transport& link, const Bytes& frame);

// Two ends of a virtual cable, v0 and v1, in a namespace of the test's own. Both ends may be in one
// namespace: frames sent on v0 arrive on v1. With OMX_LINK=udp or udp6 they have addresses. Packets between
// these go over the loopback interface, which loses OMX_TEST_LOSS percent of them. With OMX_TEST_OMXD, the
// path of a broker, it runs, and the test has no right to raw frames of its own.
class CableTest : public testing::Test {
 protected:
  void SetUp() override;
  // Returns whether messages go by UDP, so that tests of raw frames are skipped.
  static bool by_udp();
  // Returns whether raw frames come from a broker, so that this process has no right to them.
  static bool by_broker();
  std::unique_ptr<Transport> open(const std::string& interface, PacketLinkOptions options = {});
  // Sets both ends to that MTU and waits until they run.
  void set_mtu(std::uint32_t mtu);
  // Gives both ends IP addresses. SetUp does so where the environment asks for UDP.
  void addresses_give(bool ipv6);

 private:
  void broker_start();
  OwnFd loss_;
  std::shared_ptr<broker::OmxdProcess> broker_;
};

// For the beginning of a test that is about frames, the cable or the interface.
#define OMX_SKIP_BY_UDP() \
  if (by_udp()) GTEST_SKIP() << "this is about raw frames or their cable"

// For the beginning of a test that needs the right to raw frames.
#define OMX_SKIP_BY_BROKER() \
  if (by_broker()) GTEST_SKIP() << "this needs CAP_NET_RAW"

// For the beginning of a test that uses IPv6 addresses.
#define OMX_SKIP_WITHOUT_IPV6() \
  if (!ipv6_on()) GTEST_SKIP() << "IPv6 is off here"

}  // namespace omx::link
