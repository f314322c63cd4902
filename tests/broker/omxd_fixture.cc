// SPDX-License-Identifier: BSD-3-Clause
#include "tests/broker/omxd_fixture.h"

#include <net/if.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "link/ethernet/packet_link.h"
#include "netdev/bpf_call.h"
#include "tests/support/signal_child.h"
#include "tests/support/user_process.h"
#include "tools/broker/kernel/egress_hook.h"
#include "tools/broker/kernel/private_network.h"
#include "wire/packets.h"

namespace omx::broker {

namespace {

// Returns why this machine cannot have a broker, or nothing.
std::string reason_that_none_starts() {
  OmxdProcess broker{OMX_OMXD};
  const bool serves = broker.start("users = *\nboards = v0,v1\n");
  if (serves) broker.end(SIGTERM);
  return !serves && broker.unable() ? broker.log() : std::string();
}

}  // namespace

void OmxdTest::SetUp() {
  CableTest::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  if (::geteuid() != 0) GTEST_SKIP() << "a broker needs root";
  // Here, because a skip in start() does not end the test that calls it.
  static const std::string unable = reason_that_none_starts();
  if (!unable.empty()) GTEST_SKIP() << unable;
}

void OmxdTest::start(const std::string& policy) {
  ASSERT_TRUE(omxd_.start(policy)) << log();
}

void OmxdTest::signal(int number) const {
  ASSERT_TRUE(signal_child(omxd_.pid(), number));
}

void OmxdTest::as_user(uid_t uid, const std::function<void()>& work) {
  EXPECT_EQ(run_as(uid, work), 0) << "the user's process reported failures";
}

EndpointWish OmxdTest::wish(const std::string& interface, std::uint8_t endpoint) const {
  return {socket(), interface, endpoint, 64, 1U << 20};
}

std::unique_ptr<link::Transport> OmxdTest::link_open(const std::string& interface, std::uint8_t endpoint,
                                                     std::string* why) const {
  link::PacketLinkOptions options;
  options.interface = interface;
  options.endpoint = endpoint;
  options.board_frames = false;
  options.granted = std::make_shared<GrantedEndpoint>(wish(interface, endpoint));
  auto opened = link::packet_link_open(options);
  if (opened) return std::move(*opened);
  if (why)
    *why = opened.error().message;
  else
    ADD_FAILURE() << opened.error().message;
  return nullptr;
}

std::optional<GrantMaps> OmxdTest::maps_of(const std::string& interface) const {
  const auto network = PrivateNetwork::open(omxd_.network(interface));
  std::uint32_t id = 0;
  if (network) {
    run_in(*network, [&] {
      const auto hook = egress_hook_find(::if_nametoindex(interface.c_str()));
      if (hook) id = hook->program_id;
    });
  }
  if (id == 0) return std::nullopt;
  const OwnFd program = link::bpf_by_id(BPF_PROG_GET_FD_BY_ID, id);
  auto maps = grant_maps_of(program.get());
  if (!maps) return std::nullopt;
  return std::move(*maps);
}

std::size_t OmxdTest::grants_in_kernel() const {
  const auto maps = maps_of("v0");
  if (!maps) return 0;
  std::size_t count = 0;
  for (std::uint32_t slot = 0; slot < kSlots; slot++) {
    Grant grant;
    if (grant_read(*maps, slot, grant) == 0 && grant.cookie != 0) count++;
  }
  return count;
}

std::size_t OmxdTest::broker_descriptors() const {
  return descriptors_count(false);
}

std::size_t OmxdTest::broker_maps() const {
  return descriptors_count(true);
}

std::size_t OmxdTest::descriptors_count(bool maps) const {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(omxd_.pid()) + "/fd")) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(entry.path(), gone).string();
    if (!gone && (what.find("bpf-map") != std::string::npos) == maps) count++;
  }
  return count;
}

bool OmxdTest::network_mounted(const std::string& interface) const {
  return PrivateNetwork::open(omxd_.network(interface)).has_value();
}

bool frame_passes(link::Transport& from, std::uint8_t from_endpoint, link::Transport& to,
                  std::uint8_t endpoint) {
  link::Collector collector;
  while (to.receive(collector, 64) > 0) {
  }
  collector.frames.clear();
  link::Bytes frame = link::make_frame(to.interface().nic(), from.interface().nic(), 64, 38, endpoint);
  frame[18] = static_cast<std::byte>(from_endpoint);
  link::frame_send(from, frame);
  for (int i = 0; i < 200; i++) {
    to.receive(collector, 16);
    if (!collector.frames.empty()) return collector.frames[0] == frame;
    ::poll(nullptr, 0, 1);
  }
  return false;
}

}  // namespace omx::broker
