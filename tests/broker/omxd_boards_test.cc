// SPDX-License-Identifier: BSD-3-Clause
// Which boards a broker serves, and in which mode, when its policy, its NICs or the broker itself change.
#include <fmt/format.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "omxd_fixture.h"
#include "tests/support/child.h"
#include "tools/broker/kernel/egress_hook.h"
#include "tools/broker/kernel/macvlan.h"
#include "tools/broker/listener.h"
#include "tools/broker/served_board.h"

namespace omx::broker {

namespace {

using link::becomes_true;
using runtime::Child;

constexpr const char* kTrusted = "users = root\nmode = trusted\nboards = v0,v1\n";
constexpr const char* kConfined = "users = *\nboards = v0,v1\n";

class OmxdBoardsTest : public OmxdTest {
 protected:
  // Gives the broker another policy, and waits until it is in force.
  void reload(const std::string& policy) {
    const std::string before = log();
    policy_write(policy);
    signal(SIGHUP);
    EXPECT_TRUE(becomes_true([&] {
      return log().find("was read again", before.size()) != std::string::npos;
    })) << log();
  }
  // Returns whether the program of trusted mode is at the NIC itself.
  static bool program_at(const char* nic) {
    const auto hook = egress_hook_find(::if_nametoindex(nic));
    return hook && hook->program_id != 0;
  }
  // Opens an endpoint of v0 and closes it again, but keeps a copy of its socket.
  OwnFd socket_kept() {
    auto link = link_open("v0", 3);
    if (!link) return {};
    OwnFd kept(::dup(link->descriptor()));
    link.reset();
    EXPECT_TRUE(becomes_true([&] { return log_says("endpoint 3 of v0: closed"); })) << log();
    return kept;
  }
  // Returns whether a socket can send a frame that no endpoint may send.
  static bool sends_anything(const OwnFd& socket) {
    link::Bytes frame = link::make_frame(link::nic_of("v1"), link::nic_of("v0"), 64, 38, 4);
    frame[12] = std::byte{0x08};
    frame[13] = std::byte{0x00};
    return ::send(socket.get(), frame.data(), frame.size(), 0) >= 0;
  }
  void expect_frames_pass() {
    as_user(kAlice, [&] {
      auto here = link_open("v0", 3);
      auto there = link_open("v1", 4);
      ASSERT_TRUE(here && there);
      EXPECT_TRUE(frame_passes(*here, 3, *there, 4));
      EXPECT_TRUE(frame_passes(*there, 4, *here, 3));
    });
  }
};

TEST_F(OmxdBoardsTest, program_at_the_nic__is_set_again_when_it_was_removed) {
  start(kConfined);
  const auto held = link_open("v0", 3);
  ASSERT_TRUE(held);
  EXPECT_TRUE(program_at("v0"));
  ASSERT_TRUE(egress_hook_remove(::if_nametoindex("v0")));
  EXPECT_TRUE(becomes_true([&] { return program_at("v0"); })) << log();
  EXPECT_TRUE(becomes_true([&] { return log_says("egress program was removed from v0"); })) << log();
}

// The socket of another program, as of an LLDP daemon, is no socket of trusted mode.
TEST_F(OmxdBoardsTest, end__nothing_is_left_at_the_nic) {
  const OwnFd other = link::packets_of("v1", 0x88cc);
  start(kConfined);
  EXPECT_TRUE(program_at("v0"));
  EXPECT_EQ(end(SIGTERM), 0);
  EXPECT_FALSE(program_at("v0"));
}

TEST_F(OmxdBoardsTest, reload__another_mode_ends_the_grants_of_the_former_one) {
  start(kTrusted);
  auto held = link_open("v0", 3);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->interface().nic(), link::nic_of("v0"));
  reload(kConfined);
  EXPECT_TRUE(log_says("the policy changed the mode of this board")) << log();
  EXPECT_FALSE(sends_anything(OwnFd(::dup(held->descriptor()))));
  as_user(kAlice, [&] {
    const auto here = link_open("v0", 3);
    ASSERT_TRUE(here);
    EXPECT_EQ(here->interface().nic(), board_mac(link::nic_of("v0"))) << "a socket on the NIC itself";
  });
  expect_frames_pass();
  held.reset();
  reload(kTrusted);
  EXPECT_FALSE(network_mounted("v0"));
  as_user(kAlice, [&] {
    std::string why;
    EXPECT_EQ(link_open("v0", 3, &why), nullptr);
    EXPECT_NE(why.find("may have no raw frames on v0"), std::string::npos) << why;
  });
}

TEST_F(OmxdBoardsTest, reload__serves_the_boards_that_the_policy_names_now) {
  start("users = *\nboards = v0\n");
  auto held = link_open("v0", 3);
  ASSERT_TRUE(held);
  reload("users = *\nboards = v1\n");
  EXPECT_TRUE(log_says("the policy has this board no more")) << log();
  EXPECT_FALSE(network_mounted("v0"));
  EXPECT_TRUE(network_mounted("v1"));
  std::string why;
  EXPECT_EQ(link_open("v0", 4, &why), nullptr);
  EXPECT_NE(why.find("serves no board v0"), std::string::npos) << why;
  EXPECT_TRUE(link_open("v1", 3));
  reload(kConfined);
  held.reset();
  expect_frames_pass();
}

TEST_F(OmxdBoardsTest, reload__passthru) {
  start(kConfined);
  reload("users = *\nboards = v0,v1\npassthru = yes\n");
  auto here = link_open("v0", 3);
  ASSERT_TRUE(here) << log();
  EXPECT_EQ(here->interface().nic(), link::nic_of("v0"));
  here.reset();
  expect_frames_pass();
}

TEST_F(OmxdBoardsTest, trusted__the_program_stays_while_its_sockets_are_open) {
  start(kTrusted);
  OwnFd kept = socket_kept();
  ASSERT_TRUE(kept.open());
  EXPECT_FALSE(sends_anything(kept));
  EXPECT_EQ(end(SIGTERM), 0) << log();
  EXPECT_TRUE(program_at("v0"));
  EXPECT_FALSE(sends_anything(kept));
  start(kConfined);
  EXPECT_TRUE(program_at("v0")) << "a broker in confined mode";
  EXPECT_FALSE(sends_anything(kept));
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  EXPECT_EQ(run_once("--clean"), 1);
  EXPECT_TRUE(log_says("the broker's program stays at v0")) << log();
  EXPECT_FALSE(sends_anything(kept));
  kept.reset();
  EXPECT_EQ(run_once("--clean"), 0) << log();
  EXPECT_FALSE(program_at("v0"));
}

TEST_F(OmxdBoardsTest, trusted__clean_revokes_open_endpoints) {
  start(kTrusted);
  auto here = link_open("v0", 3);
  auto there = link_open("v1", 4);
  ASSERT_TRUE(here && there);
  EXPECT_TRUE(frame_passes(*here, 3, *there, 4));
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  EXPECT_TRUE(frame_passes(*here, 3, *there, 4));
  EXPECT_EQ(run_once("--clean"), 1);
  EXPECT_FALSE(sends_anything(OwnFd(::dup(here->descriptor()))));
  EXPECT_FALSE(frame_passes(*here, 3, *there, 4));
}

TEST_F(OmxdBoardsTest, trusted__nothing_is_left_when_its_sockets_are_closed) {
  start(kTrusted);
  EXPECT_TRUE(link_open("v0", 3));
  EXPECT_TRUE(becomes_true([&] { return log_says("endpoint 3 of v0: closed"); })) << log();
  EXPECT_EQ(end(SIGTERM), 0) << log();
  EXPECT_FALSE(program_at("v0"));
  EXPECT_FALSE(program_at("v1"));
}

TEST_F(OmxdBoardsTest, adoption__asks_the_policy) {
  start(kConfined);
  Child alice([&] { return ::setgid(kAlice) == 0 && ::setuid(kAlice) == 0 && link_open("v0", 3).release(); });
  ASSERT_TRUE(alice.ok());
  EXPECT_EQ(grants_in_kernel(), 1U);
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  start("users = root\ngroups =\nboards = v0,v1\n");
  EXPECT_EQ(grants_in_kernel(), 0U);
  EXPECT_TRUE(log_says("endpoint 3 of v0: user 60001 may have no raw frames")) << log();
}

TEST_F(OmxdBoardsTest, adoption__groups_are_those_of_the_process) {
  start(kConfined);
  Child alice([&] { return ::setgid(kBob) == 0 && ::setuid(kAlice) == 0 && link_open("v0", 3).release(); });
  ASSERT_TRUE(alice.ok());
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  start(fmt::format("users =\ngroups = {}\nboards = v0,v1\n", kBob));
  EXPECT_EQ(grants_in_kernel(), 1U) << log();
}

TEST_F(OmxdBoardsTest, absent__a_nic_that_appears_later_is_served) {
  start("users = *\nboards = v0,v9\n");
  EXPECT_TRUE(log_says("v9, which does not exist")) << log();
  link::ip("link add v9 type veth peer name v8");
  link::ip("link set v9 up");
  EXPECT_TRUE(becomes_true([&] { return log_says("v9 has appeared"); })) << log();
  as_user(kAlice, [&] { EXPECT_TRUE(link_open("v9", 3)); });
}

TEST_F(OmxdBoardsTest, absent__grants_wait_for_their_board) {
  start(kConfined);
  auto here = link_open("v0", 3);
  auto there = link_open("v1", 4);
  ASSERT_TRUE(here && there);
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  link::ip("link set v0 name away");
  start(kConfined);
  EXPECT_EQ(grants_in_kernel(), 2U) << log();
  reload(kConfined);
  EXPECT_EQ(grants_in_kernel(), 2U) << log();
  link::ip("link set away name v0");
  EXPECT_TRUE(becomes_true([&] { return log_says("v0 has appeared"); })) << log();
  EXPECT_TRUE(frame_passes(*here, 3, *there, 4));
  EXPECT_EQ(grants_in_kernel(), 2U) << log();
}

TEST_F(OmxdBoardsTest, absent__grants_that_the_policy_does_not_allow_do_not_wait) {
  start(kConfined);
  auto here = link_open("v0", 3);
  ASSERT_TRUE(here);
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  link::ip("link set v0 name away");
  start(kConfined);
  EXPECT_EQ(grants_in_kernel(), 1U) << log();
  reload("users = 60001\ngroups =\nboards = v0,v1\n");
  EXPECT_EQ(grants_in_kernel(), 0U) << log();
}

TEST_F(OmxdBoardsTest, absent__grants_of_a_board_that_left_the_policy_do_not_wait) {
  start(kConfined);
  auto here = link_open("v0", 3);
  ASSERT_TRUE(here);
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  link::ip("link set v0 name away");
  start("users = *\nboards = v1\n");
  EXPECT_EQ(grants_in_kernel(), 0U) << log();
}

// The maps cannot be used, so the egress program cannot be loaded.
TEST_F(OmxdBoardsTest, set_up__a_failure_leaves_what_jobs_use) {
  start(kConfined);
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  const std::string networks = socket().substr(0, socket().rfind('/')) + "/net";
  const GrantMaps none;
  ServedBoard::Plan plan;
  plan.choice.interface.name = "v0";
  plan.choice.interface.index = ::if_nametoindex("v0");
  plan.choice.interface.nic = link::nic_of("v0");
  plan.choice.interface.mtu = 1500;
  const auto macvlan = [&]() -> std::uint32_t {
    const auto network = PrivateNetwork::open(networks + "/v0");
    if (!network) return 0;
    const auto found = macvlan_find(*network, "v0");
    return found && *found ? (*found)->ifindex : 0;
  };
  const std::uint32_t before = macvlan();
  ASSERT_NE(before, 0U);
  EXPECT_FALSE(ServedBoard::open(plan, {none, networks}));
  EXPECT_EQ(macvlan(), before);
  // The network that this process made is removed.
  EXPECT_FALSE(ServedBoard::open(plan, {none, networks + "2"}));
  EXPECT_FALSE(PrivateNetwork::open(networks + "2/v0"));
}

TEST_F(OmxdBoardsTest, nic__another_address_leaves_a_confined_board_alone) {
  start(kConfined);
  const NicId before = board_mac(link::nic_of("v0"));
  link::ip("link set v0 address 02:00:00:00:77:01");
  EXPECT_TRUE(becomes_true([&] { return log_says("works on"); })) << log();
  EXPECT_FALSE(log_says("v0 is gone"));
  as_user(kAlice, [&] {
    const auto here = link_open("v0", 3);
    ASSERT_TRUE(here);
    EXPECT_EQ(here->interface().nic(), before);
  });
  expect_frames_pass();
}

TEST_F(OmxdBoardsTest, nic__another_address_silences_a_trusted_board_until_a_reload) {
  start(kTrusted);
  link::ip("link set v0 address 02:00:00:00:77:01");
  EXPECT_TRUE(becomes_true([&] { return log_says("systemctl reload omxd"); })) << log();
  std::string why;
  EXPECT_EQ(link_open("v0", 3, &why), nullptr);
  EXPECT_NE(why.find("systemctl reload omxd"), std::string::npos) << why;
  reload(kTrusted);
  EXPECT_TRUE(link_open("v0", 3));
}

TEST_F(OmxdBoardsTest, clean__not_while_a_broker_runs) {
  start(kConfined);
  EXPECT_EQ(run_once("--clean"), 1);
  EXPECT_TRUE(log_says("end it first (systemctl stop omxd.socket omxd.service)")) << log();
  expect_frames_pass();
}

TEST(BrokerListener, open__leaves_a_file_alone_that_is_no_socket) {
  Policy policy;
  policy.socket.path = testing::TempDir() + fmt::format("omxd-listener-{}", ::getpid());
  policy.socket.group = {};
  std::ofstream(policy.socket.path) << "precious";
  const auto listener = Listener::open(policy);
  ASSERT_FALSE(listener);
  EXPECT_NE(listener.error().message.find("is not a socket"), std::string::npos) << listener.error().message;
  EXPECT_EQ(std::filesystem::file_size(policy.socket.path), 8U);
  std::filesystem::remove(policy.socket.path);
}

}  // namespace

}  // namespace omx::broker
