// SPDX-License-Identifier: BSD-3-Clause
#include "test_network.h"

#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/bytes.h"
#include "lossy.h"
#include "netdev/interface_state.h"
#include "omxd_process.h"
#include "tests/support/emulated.h"

namespace omx::link {

namespace {

bool interface_state(const std::string& interface, InterfaceState& state) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool found = interface_state_by_name(fd, interface, state) == 0;
  ::close(fd);
  return found;
}

bool is_running(const std::string& interface) {
  InterfaceState state;
  return interface_state(interface, state) && state.up && state.running;
}

}  // namespace

bool network_enter(std::string& reason) {
  if (::unshare(CLONE_NEWNET) == 0) return true;
  reason = fmt::format("a network namespace of its own needs root: {}", std::strerror(errno));
  return false;
}

bool ipv6_on() {
  std::ifstream file("/proc/sys/net/ipv6/conf/default/disable_ipv6");
  int disabled = 1;
  return file >> disabled && disabled == 0;
}

bool sysfs_enter(std::string& reason) {
  if (::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      ::mount("sysfs", "/sys", "sysfs", 0, nullptr) == 0)
    return true;
  reason = fmt::format("no mount namespace of its own here: {}", std::strerror(errno));
  return false;
}

void ip(const std::string& arguments) {
  const std::string command = "ip " + arguments;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

NicId nic_of(const std::string& interface) {
  InterfaceState state;
  EXPECT_TRUE(interface_state(interface, state)) << interface;
  return state.nic;
}

OwnFd packets_of(const std::string& interface, std::uint16_t ethertype) {
  OwnFd socket(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_ll at{};
  at.sll_family = AF_PACKET;
  at.sll_protocol = htons(ethertype);
  at.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  return socket;
}

bool packet_arrives(const OwnFd& packets) {
  pollfd wait{packets.get(), POLLIN, 0};
  return ::poll(&wait, 1, 60'000) == 1;
}

Bytes make_frame(NicId dst, NicId src, std::size_t size, std::uint8_t type, std::uint8_t endpoint,
                 std::uint8_t seed) {
  Bytes frame(size);
  for (std::size_t i = 18; i < size; i++) frame[i] = static_cast<std::byte>(i * 7 + seed);
  mac_store(&frame[0], dst);
  mac_store(&frame[6], src);
  store_be16(&frame[12], wire::kEthertype);
  store_be16(&frame[14], wire::kUnknownPeerIndex);
  store8(&frame[16], type);
  store8(&frame[17], endpoint);
  return frame;
}

bool receive_until(Transport& link, Collector& collector, std::size_t count) {
  return becomes_true([&] {
    while (link.receive(collector, 16) > 0) {
    }
    return collector.frames.size() >= count;
  });
}

void frame_queue(Transport& link, const Bytes& frame) {
  wire::TxFrame& tx = link.frame_begin(1);
  const std::size_t in_header = std::min(frame.size(), wire::kHeaderCapacity);
  std::copy_n(frame.begin(), in_header, tx.header);
  tx.header_length = static_cast<std::uint32_t>(in_header);
  if (in_header < frame.size()) {
    tx.segments[0] = iovec{const_cast<std::byte*>(frame.data()) + in_header, frame.size() - in_header};
    tx.segment_count = 1;
  }
  link.frame_commit();
}

void frame_send(Transport& link, const Bytes& frame) {
  frame_queue(link, frame);
  link.flush();
}

void CableTest::SetUp() {
  if (!by_udp())
    OMX_SKIP_EMULATED("has no rings and filters of packet sockets; OMX_LINK=udp runs what needs none");
  std::string reason;
  if (!network_enter(reason)) GTEST_SKIP() << reason;
  if (::if_nametoindex("lo") == 0) GTEST_SKIP() << "the new network namespace has no interfaces";
  if (std::system("ip link add v0 type veth peer name v1") != 0) GTEST_SKIP() << "this kernel has no veth";
  set_mtu(1500);
  if (by_udp()) addresses_give(std::string_view(std::getenv("OMX_LINK")) == "udp6");
  broker_start();
}

void CableTest::broker_start() {
  const char* const program = std::getenv("OMX_TEST_OMXD");
  if (!program) return;
  broker_ = std::make_shared<broker::OmxdProcess>(program);
  const bool serves =
      broker_->start("users = *\nboards = v0,v1\nendpoints = 1000\nmemory = 4G\nmemory_total = 8G\n");
  if (!serves && broker_->unable()) GTEST_SKIP() << broker_->log();
  ASSERT_TRUE(serves) << broker_->log();
  ::setenv("OMX_BROKER", broker_->socket().c_str(), 1);
  ASSERT_TRUE(broker::net_raw_drop());
}

bool CableTest::by_udp() {
  const char* const link = std::getenv("OMX_LINK");
  return link && std::string_view(link).starts_with("udp");
}

bool CableTest::by_broker() {
  return std::getenv("OMX_TEST_OMXD") != nullptr;
}

void CableTest::addresses_give(bool ipv6) {
  ip("link set lo up");
  for (const int end : {0, 1})
    ip(ipv6 ? fmt::format("address add fd08::{}/64 dev v{} nodad", end + 1, end)
            : fmt::format("address add 10.9.0.{}/24 dev v{}", end + 1, end));
  const char* const loss = std::getenv("OMX_TEST_LOSS");
  if (!loss) return;
  std::string reason;
  loss_ = packets_lose("lo", static_cast<unsigned>(std::atoi(loss)), reason);
  if (!loss_.open()) GTEST_SKIP() << reason;
}

void CableTest::set_mtu(std::uint32_t mtu) {
  for (const char* name : {"v0", "v1"}) ip(fmt::format("link set {} mtu {} up", name, mtu));
  // The kernel announces the carrier with a delay.
  ASSERT_TRUE(becomes_true([] { return is_running("v0") && is_running("v1"); }));
}

std::unique_ptr<Transport> CableTest::open(const std::string& interface, PacketLinkOptions options) {
  options.interface = interface;
  auto link = packet_link_open(options);
  EXPECT_TRUE(link.has_value()) << link.error().message;
  return link ? std::move(*link) : nullptr;
}

}  // namespace omx::link
