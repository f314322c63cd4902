// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/macvlan.h"

#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <net/if.h>

#include "base/text_file.h"
#include "kernel_needs.h"
#include "tests/support/test_network.h"

namespace omx::broker {
namespace {

TEST(board_mac, is_a_local_address_and_no_group) {
  EXPECT_EQ(board_mac(0x0060dd47c475), 0xaa60dd47c475U);
  EXPECT_EQ(board_mac(0x024200000001), 0xaa4200000001U);
  EXPECT_EQ(board_mac(0xfe0102030405), 0x560102030405U);
  for (NicId first = 0; first < 256; first += 2) {
    const NicId made = board_mac(first << 40 | 0x010203);
    EXPECT_FALSE(mac_is_group(made));
    EXPECT_NE(made, first << 40 | 0x010203);
    EXPECT_NE(made >> 40 & 2, 0U);
    EXPECT_EQ(made & 0xFFFFFFFFFF, 0x010203U);
  }
}

class MacvlanTest : public link::CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    if (IsSkipped()) return;
    auto made = PrivateNetwork::make();
    ASSERT_TRUE(made) << made.error().message;
    network_.emplace(std::move(*made));
    const auto possible = macvlan_make(*network_, options());
    OMX_NEED(possible);
    ASSERT_TRUE(macvlan_remove(*network_, "v0"));
  }
  MacvlanOptions options() const {
    return {.name = "v0", .lower = ::if_nametoindex("v0"), .nic = board_mac(link::nic_of("v0")), .mtu = 1500};
  }
  Macvlan make(const MacvlanOptions& wanted) {
    const auto made = macvlan_make(*network_, wanted);
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(Macvlan{});
  }
  Macvlan adopt(const MacvlanOptions& wanted) {
    const auto adopted = macvlan_adopt(*network_, wanted);
    EXPECT_TRUE(adopted) << adopted.error().message;
    return adopted.value_or(Macvlan{});
  }

  Macvlan start() {
    const auto started = macvlan_start(*network_, "v0");
    EXPECT_TRUE(started) << started.error().message;
    return started.value_or(Macvlan{});
  }

  std::optional<PrivateNetwork> network_;
};

TEST_F(MacvlanTest, make__as_wanted_and_down) {
  EXPECT_FALSE(*macvlan_find(*network_, "v0"));
  const Macvlan made = make(options());
  EXPECT_FALSE(made.up);
  EXPECT_EQ(made.nic, options().nic);
  EXPECT_EQ(made.mtu, 1500U);
  EXPECT_EQ(made.lower, options().lower);
  EXPECT_EQ(made.mode, MacvlanMode::apart);
  const auto found = macvlan_find(*network_, "v0");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->ifindex, made.ifindex);
  if (link::ipv6_on()) {
    std::string disabled;
    ASSERT_EQ(run_in(*network_,
                     [&] { disabled = line_read("/proc/sys/net/ipv6/conf/v0/disable_ipv6").value_or("?"); }),
              0);
    EXPECT_EQ(disabled, "1");
  }
  const auto removed = macvlan_remove(*network_, "v0");
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(*macvlan_find(*network_, "v0"));
  EXPECT_TRUE(macvlan_remove(*network_, "v0")) << "nothing to remove is no error";
}

// The NIC of the test's cable says nothing of its own but by IPv6, which the macvlan must not do.
TEST_F(MacvlanTest, make__sends_nothing_by_itself) {
  for (const char* end : {"v0", "v1"})
    EXPECT_EQ(std::system((std::string("sysctl -q net.ipv6.conf.") + end + ".disable_ipv6=1").c_str()), 0);
  const OwnFd peer = link::packets_of("v1", ETH_P_ALL);
  make(options());
  EXPECT_TRUE(start().up);
  pollfd wait{peer.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 300), 0);
}

TEST_F(MacvlanTest, adopt__keeps_the_interface_and_follows_the_mtu) {
  make(options());
  const Macvlan made = start();
  ASSERT_NO_FATAL_FAILURE(set_mtu(9000));
  MacvlanOptions wanted = options();
  wanted.mtu = 9000;
  const Macvlan adopted = adopt(wanted);
  EXPECT_EQ(adopted.ifindex, made.ifindex);
  EXPECT_EQ(adopted.mtu, 9000U);
  EXPECT_TRUE(adopted.up);
}

TEST_F(MacvlanTest, adopt__none_is_there_or_another) {
  const Macvlan first = adopt(options());
  EXPECT_FALSE(first.up);
  MacvlanOptions wanted = options();
  wanted.lower = ::if_nametoindex("v1");
  wanted.nic = board_mac(link::nic_of("v1"));
  const Macvlan second = adopt(wanted);
  EXPECT_NE(second.ifindex, first.ifindex);
  EXPECT_EQ(second.nic, wanted.nic);
  EXPECT_EQ(second.lower, wanted.lower);
}

TEST_F(MacvlanTest, nic_goes__the_macvlan_goes_with_it) {
  make(options());
  link::ip("link del v0");
  EXPECT_FALSE(*macvlan_find(*network_, "v0"));
}

TEST_F(MacvlanTest, whole__has_the_address_of_the_nic) {
  MacvlanOptions wanted = options();
  wanted.mode = MacvlanMode::whole;
  wanted.nic = link::nic_of("v0");
  const Macvlan made = make(wanted);
  EXPECT_EQ(made.mode, MacvlanMode::whole);
  EXPECT_EQ(made.nic, link::nic_of("v0"));
  EXPECT_EQ(adopt(wanted).ifindex, made.ifindex);
}

TEST_F(MacvlanTest, nic_in_a_bridge__the_failure_names_the_remedy) {
  if (std::system("ip link add br0 type bridge && ip link set v0 master br0") != 0)
    GTEST_SKIP() << "this kernel has no bridge";
  const auto made = macvlan_make(*network_, options());
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("trusted mode"), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace omx::broker
