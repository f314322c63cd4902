// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/interfaces.h"

#include <gmock/gmock.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "netdev/interfaces_choose.h"
#include "netdev/interfaces_meant.h"
#include "netdev/interfaces_netlink.h"
#include "netdev/interfaces_routes.h"
#include "netdev/interfaces_sysfs.h"
#include "tests/support/scripted_netlink.h"
#include "tests/support/test_network.h"

namespace omx::link {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// A recorded /sys, written file by file.
class interfaces_sysfs : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "omx-sysfs-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directories(net());
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path net() const { return root_ / "class" / "net"; }
  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  fs::path add(const std::string& name, int index, const std::string& mac, const std::string& flags) const {
    const fs::path directory = net() / name;
    write(directory / "ifindex", std::to_string(index));
    write(directory / "iflink", std::to_string(index));
    write(directory / "address", mac);
    write(directory / "mtu", "1500");
    write(directory / "flags", flags);
    write(directory / "carrier", "1");
    write(directory / "type", "1");
    return directory;
  }
  // Adds a network card with its PCI directory.
  fs::path add_card(const std::string& name, int index, const std::string& mac, const std::string& pci,
                    const std::string& driver) const {
    const fs::path directory = add(name, index, mac, "0x1003");
    const fs::path device = root_ / "devices" / pci;
    write(device / "numa_node", "1");
    fs::create_directory_symlink("../../bus/pci/drivers/" + driver, device / "driver");
    fs::create_directory_symlink("../../bus/pci", device / "subsystem");
    fs::create_directory_symlink(device, directory / "device");
    return directory;
  }

  fs::path root_;
};

TEST_F(interfaces_sysfs, list__a_card) {
  const fs::path card = add_card("enp59s0f0", 2, "00:60:dd:47:c4:75", "0000:3b:00.0", "ixgbe");
  write(card / "mtu", "9000");
  write(card / "speed", "10000");
  const auto list = interfaces_list(root_.string());
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].name, "enp59s0f0");
  EXPECT_EQ(list[0].index, 2U);
  EXPECT_EQ(list[0].nic, 0x0060dd47c475ULL);
  EXPECT_EQ(list[0].mtu, 9000U);
  EXPECT_TRUE(list[0].up);
  EXPECT_TRUE(list[0].running);
  EXPECT_TRUE(list[0].ethernet);
  EXPECT_FALSE(list[0].loopback);
  EXPECT_FALSE(list[0].virtual_kind);
  EXPECT_EQ(list[0].kind, "physical");
  EXPECT_EQ(list[0].driver, "ixgbe");
  EXPECT_EQ(list[0].speed_mbps, 10000);
  EXPECT_EQ(list[0].numa_node, 1);
  EXPECT_EQ(list[0].pci_address, "0000:3b:00.0");
}

TEST_F(interfaces_sysfs, list__kinds) {
  write(add("lo", 1, "00:00:00:00:00:00", "0x9") / "type", "772");
  write(add("br0", 3, "02:00:00:00:00:03", "0x1003") / "bridge" / "bridge_id", "x");
  const fs::path tun = add("tun0", 4, "", "0x1091");
  write(tun / "tun_flags", "0x1001");
  write(tun / "type", "65534");
  write(add("bond0", 5, "02:00:00:00:00:05", "0x1403") / "bonding" / "mode", "x");
  write(add("eth0.5", 6, "02:00:00:00:00:06", "0x1003") / "uevent", "INTERFACE=eth0.5\nDEVTYPE=vlan");
  write(add("veth1", 7, "02:00:00:00:00:07", "0x1003") / "iflink", "9");
  const fs::path stacked = add("odd0", 8, "02:00:00:00:00:08", "0x1003");
  write(stacked / "iflink", "2");
  write(stacked / "lower_eth0", "");
  add("dummy0", 10, "02:00:00:00:00:0a", "0x83");
  write(net() / "bonding_masters", "bond0");  // a file beside the directories
  std::vector<std::string> kinds;
  for (const Interface& i : interfaces_list(root_.string())) {
    kinds.push_back(i.name + " " + i.kind);
    EXPECT_TRUE(i.virtual_kind) << i.name;
  }
  EXPECT_THAT(kinds, ElementsAre("lo loopback", "br0 bridge", "tun0 tun", "bond0 bond", "eth0.5 vlan",
                                 "veth1 veth", "odd0 virtual", "dummy0 virtual"));
}

TEST_F(interfaces_sysfs, list__down_port_and_master) {
  const fs::path card = add_card("eth0", 2, "00:60:dd:47:c4:75", "0000:3b:00.0", "ixgbe");
  write(card / "flags", "0x1002");
  write(card / "speed", "-1");
  fs::create_directory_symlink("../br0", card / "master");
  const auto list = interfaces_list(root_.string());
  ASSERT_EQ(list.size(), 1U);
  EXPECT_FALSE(list[0].up);
  EXPECT_FALSE(list[0].running);
  EXPECT_EQ(list[0].speed_mbps, -1);
  EXPECT_EQ(list[0].master, "br0");
}

TEST_F(interfaces_sysfs, list__ordered_by_index_and_empty_tree) {
  EXPECT_TRUE(interfaces_list(root_.string()).empty());
  EXPECT_TRUE(interfaces_list("/nonexistent").empty());
  add("eth9", 2, "02:00:00:00:00:02", "0x1003");
  add("eth0", 11, "02:00:00:00:00:0b", "0x1003");
  add("eth1", 3, "02:00:00:00:00:03", "0x1003");
  std::vector<std::string> names;
  for (const Interface& i : interfaces_list(root_.string())) names.push_back(i.name);
  EXPECT_THAT(names, ElementsAre("eth9", "eth1", "eth0"));
}

class interfaces_live : public CableTest {};

TEST_F(interfaces_live, list__this_namespace_and_not_that_of_sys) {
  ip("link add br0 type bridge");
  ip("link set v1 mtu 9000 master br0");
  std::vector<std::string> names;
  for (const Interface& i : interfaces_list()) {
    names.push_back(i.name);
    if (i.name == "lo") {
      EXPECT_TRUE(i.loopback);
      EXPECT_EQ(i.kind, "loopback");
    } else if (i.name == "br0") {
      EXPECT_EQ(i.kind, "bridge");
      EXPECT_TRUE(i.ethernet);
      EXPECT_FALSE(i.up);
    } else if (i.name == "v1") {
      EXPECT_EQ(i.kind, "veth");
      EXPECT_EQ(i.driver, "veth");
      EXPECT_EQ(i.master, "br0");
      EXPECT_EQ(i.mtu, 9000U);
      EXPECT_EQ(i.nic, nic_of("v1"));
      EXPECT_TRUE(i.up);
      EXPECT_TRUE(i.running);
      EXPECT_TRUE(i.virtual_kind);
    }
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"lo", "v0", "v1", "br0"}));
}

TEST_F(interfaces_live, list__who_gets_the_frames_below_a_macvlan) {
  if (std::system("ip link add mv link v1 type macvlan mode bridge 2>/dev/null") != 0)
    GTEST_SKIP() << "this kernel has no macvlan";
  const auto master_of = [](const std::string& name) {
    for (const Interface& i : interfaces_list())
      if (i.name == name) return i.master;
    return std::string("not there");
  };
  EXPECT_EQ(master_of("v1"), "") << "it has an address of its own";
  ip("link del mv");
  ip("link add mv link v1 type macvlan mode passthru");
  EXPECT_EQ(master_of("v1"), "mv");
  EXPECT_EQ(master_of("v0"), "");
  EXPECT_EQ(master_of("mv"), "");
}

TEST_F(interfaces_live, list__addresses_also_those_with_a_label) {
  ip("addr add 10.91.0.1/24 dev v0");
  ip("addr add 10.92.0.1/24 dev v1 label v1:7");
  const auto all = interfaces_list();
  for (const auto& [network, name] : {std::pair("10.91.0.0/16", "v0"), std::pair("10.92.0.1", "v1")}) {
    for (const Interface& i : all) EXPECT_EQ(interface_meant(i, network), i.name == name) << i.name;
  }
}

TEST_F(interfaces_live, list__default_route_and_shared_networks) {
  ip("addr add 10.91.0.1/32 dev v0");
  ip("addr add 10.92.0.1/24 dev v1");
  ip("route add default via 10.92.0.2 dev v1");
  for (const Interface& i : interfaces_list()) {
    EXPECT_EQ(i.default_route, i.name == "v1") << i.name;
    EXPECT_EQ(i.shares_network && !i.loopback, i.name == "v1") << i.name;
  }
  ip("route del default");
  OMX_SKIP_WITHOUT_IPV6();
  ip("-6 addr add fd4f::1/64 dev v0 nodad");
  ip("-6 route add default via fd4f::2 dev v0");
  for (const Interface& i : interfaces_list()) {
    EXPECT_EQ(i.default_route, i.name == "v0") << i.name;
    EXPECT_TRUE(i.shares_network || i.loopback) << i.name;
  }
}

TEST(interfaces_routes, default__of_the_main_table_and_its_hops) {
  auto port = std::make_unique<ScriptedNetlink>();
  ScriptedNetlink& kernel = *port;
  Netlink netlink(std::move(port));
  const auto route = [](unsigned char bits, unsigned char table, unsigned char type, std::uint32_t oif) {
    rtmsg head{};
    head.rtm_dst_len = bits;
    head.rtm_table = table;
    head.rtm_type = type;
    NetlinkRequest message(RTM_NEWROUTE, head);
    if (oif)
      message.attribute(RTA_OIF, oif);
    else
      message.attribute(RTA_MULTIPATH,
                        bytes_of("0800000006000000"
                                 "0800000007000000")
                            .data(),
                        16);
    const NetlinkBytes bytes = message.finish(NLM_F_MULTI, 0);
    return omx::Datagram(bytes.begin(), bytes.end());
  };
  kernel.answer({route(24, RT_TABLE_MAIN, RTN_UNICAST, 2), route(0, RT_TABLE_MAIN, RTN_UNICAST, 3),
                 route(0, RT_TABLE_LOCAL, RTN_UNICAST, 4), route(0, RT_TABLE_MAIN, RTN_UNREACHABLE, 1),
                 route(0, RT_TABLE_MAIN, RTN_UNICAST, 0), netlink_end(NLMSG_DONE, 0)});
  kernel.answer({netlink_end(NLMSG_ERROR, EOPNOTSUPP)});  // no IPv6
  EXPECT_EQ(default_routes_read(netlink), (std::set<std::uint32_t>{3, 6, 7}));
}

Interface make(const std::string& name, const std::string& kind) {
  static std::uint32_t index = 0;
  Interface i;
  i.name = name;
  i.index = ++index;
  i.up = i.running = true;
  i.kind = kind;
  i.loopback = kind == "loopback";
  i.ethernet = kind != "loopback" && kind != "tun";
  i.virtual_kind = kind != "physical";
  return i;
}

std::vector<std::string> taken(const std::vector<Interface>& all, const std::string& wanted) {
  std::vector<std::string> names;
  const auto choices = interfaces_choose(all, wanted);
  EXPECT_TRUE(choices);
  if (!choices) return names;
  EXPECT_EQ(choices->size(), all.size());
  for (const Choice& c : *choices) {
    EXPECT_FALSE(c.reason.empty()) << c.interface.name;
    if (c.taken) names.push_back(c.interface.name);
  }
  return names;
}

std::string reason(const std::vector<Interface>& all, const std::string& wanted, const std::string& name) {
  const auto choices = interfaces_choose(all, wanted);
  for (const Choice& c : *choices) {
    if (c.interface.name == name) return c.reason;
  }
  return {};
}

TEST(interfaces_choose, default__real_ports_that_are_up) {
  std::vector<Interface> all = {make("lo", "loopback"), make("eth0", "physical"),  make("eth1", "physical"),
                                make("br0", "bridge"),  make("docker0", "bridge"), make("tun0", "tun"),
                                make("vethab", "veth"), make("eth2", "physical"),  make("bond0", "bond")};
  all[2].up = all[2].running = false;
  all[7].master = "br0";
  EXPECT_THAT(taken(all, ""), ElementsAre("eth0", "bond0"));
  EXPECT_THAT(reason(all, "", "eth1"), HasSubstr("ip link set eth1 up"));
  EXPECT_THAT(reason(all, "", "eth2"), HasSubstr("br0"));
  EXPECT_THAT(reason(all, "", "docker0"), HasSubstr("bridge"));
  EXPECT_THAT(reason(all, "", "vethab"), HasSubstr("physical"));
  EXPECT_EQ(reason(all, "", "lo"), "loopback");
}

TEST(interfaces_choose, default__a_container_has_only_veth) {
  EXPECT_THAT(taken({make("lo", "loopback"), make("eth0", "veth"), make("eth1", "macvlan")}, ""),
              ElementsAre("eth0", "eth1"));
}

TEST(interfaces_choose, default__ports_with_carrier_first) {
  std::vector<Interface> all = {make("eth0", "physical"), make("eth1", "physical")};
  all[0].running = false;
  EXPECT_THAT(taken(all, ""), ElementsAre("eth1", "eth0"));
  EXPECT_THAT(reason(all, "", "eth0"), HasSubstr("no carrier"));
}

TEST(interfaces_choose, default__of_a_container_with_containers__the_way_out_first) {
  // The host is a node of a cluster that is a container itself. Its pods got lower indexes.
  std::vector<Interface> all = {make("lo", "loopback"), make("vetha", "veth"), make("vethb", "veth"),
                                make("vethc", "veth"), make("eth0", "veth")};
  all[4].default_route = all[4].shares_network = true;
  all[3].shares_network = true;
  EXPECT_THAT(taken(all, ""), ElementsAre("eth0", "vethc", "vetha", "vethb"));
  all[4].default_route = false;
  EXPECT_THAT(taken(all, ""), ElementsAre("vethc", "eth0", "vetha", "vethb")) << "equals keep their order";
  all[4].default_route = true;
  all[4].running = false;
  EXPECT_THAT(taken(all, ""), ElementsAre("vethc", "vetha", "vethb", "eth0")) << "what works comes first";
}

TEST(interfaces_choose, default__nics_keep_their_order) {
  std::vector<Interface> all = {make("eth0", "physical"), make("eth1", "physical")};
  all[1].default_route = all[1].shares_network = true;
  EXPECT_THAT(taken(all, ""), ElementsAre("eth0", "eth1")) << "the fast network seldom leads to the world";
}

TEST(interfaces_choose, names__in_the_order_given) {
  std::vector<Interface> all = {make("eth0", "physical"), make("eth1", "physical"), make("br0", "bridge"),
                                make("tun0", "tun")};
  all[0].up = false;
  EXPECT_THAT(taken(all, "br0,eth0"), ElementsAre("br0", "eth0"));
  EXPECT_THAT(taken(all, " eth1 ,, eth1,tun0"), ElementsAre("eth1"));
  EXPECT_THAT(reason(all, "br0,eth0", "eth0"), HasSubstr("down"));
  EXPECT_THAT(reason(all, "br0,eth0", "eth1"), HasSubstr("not in OMX_INTERFACES"));
}

TEST(interfaces_choose, reasons__name_the_setting_that_holds_the_list) {
  const std::vector<Interface> all = {make("eth0", "physical"), make("br0", "bridge")};
  const auto usual = interfaces_choose(all, "", "OMX_RAILS");
  ASSERT_TRUE(usual);
  EXPECT_EQ((*usual)[1].reason, "bridge: only taken when named in OMX_RAILS");
  const auto named = interfaces_choose(all, "br0", "OMX_RAILS");
  ASSERT_TRUE(named);
  EXPECT_EQ((*named)[0].reason, "named in OMX_RAILS, up");
  EXPECT_EQ((*named)[1].reason, "not in OMX_RAILS");
}

TEST(interfaces_choose, all__everything_ethernet) {
  EXPECT_THAT(taken({make("lo", "loopback"), make("eth0", "physical"), make("br0", "bridge"),
                     make("tun0", "tun"), make("veth0", "veth")},
                    "all"),
              ElementsAre("eth0", "br0", "veth0"));
}

TEST(interfaces_choose, names__unknown_is_a_failure_that_names_the_others) {
  const auto choices = interfaces_choose({make("eth0", "physical"), make("br0", "bridge")}, "eth0,eth7");
  ASSERT_FALSE(choices);
  EXPECT_EQ(choices.error().mx_code, 8);
  EXPECT_THAT(choices.error().message, testing::AllOf(HasSubstr("eth7"), HasSubstr("eth0, br0")));
  std::vector<Interface> many;
  for (int i = 0; i < 50; i++) many.push_back(make("eth" + std::to_string(i), "physical"));
  const auto unknown = interfaces_choose(many, "ib0");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("there are: eth0, eth1, eth2, ..."));
}

// Returns two cards of two ports, a VLAN, a bridge, and a container's network.
std::vector<Interface> cards() {
  std::vector<Interface> all = {make("lo", "loopback"),   make("eth0", "physical"), make("eth1", "physical"),
                                make("eth2", "physical"), make("eth3", "physical"), make("eth0.5", "vlan"),
                                make("br0", "bridge"),    make("docker0", "bridge")};
  for (std::size_t i = 1; i < 5; i++) {
    all[i].nic = 0x024f4d580000ULL + i;
    all[i].pci_address = "0000:3b:00." + std::to_string(i - 1);
    all[i].speed_mbps = i < 3 ? 10000 : 25000;
    all[i].addresses = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, static_cast<std::uint8_t>(i), 9},
                        {0xFD, 0x4F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(i)}};
  }
  all[0].addresses = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1}};
  all[5].nic = all[1].nic;
  all[6].nic = all[4].nic;
  all[6].speed_mbps = all[7].speed_mbps = 10000;
  all[7].addresses = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 172, 17, 0, 1}};
  return all;
}

std::string refusal(const std::vector<Interface>& all, const std::string& wanted) {
  const auto choices = interfaces_choose(all, wanted);
  EXPECT_FALSE(choices) << wanted;
  if (choices) return {};
  EXPECT_EQ(choices.error().mx_code, 8) << wanted;
  EXPECT_EQ(choices.error().message.find('\n'), std::string::npos);
  return choices.error().message;
}

TEST(interfaces_choose, mac__of_a_port_and_not_of_its_vlan) {
  std::vector<Interface> all = cards();
  EXPECT_THAT(taken(all, "02:4f:4d:58:00:01"), ElementsAre("eth0"));
  EXPECT_THAT(taken(all, "02-4F-4D-58-00-02,eth0.5"), ElementsAre("eth1", "eth0.5"));
  EXPECT_THAT(reason(all, "02:4f:4d:58:00:02", "eth1"), HasSubstr("02:4f:4d:58:00:02"));
  // A bridge has the address of one of its ports, and gets the port's frames.
  all[4].master = "br0";
  EXPECT_THAT(taken(all, "02:4f:4d:58:00:04"), ElementsAre("br0"));
  EXPECT_THAT(reason(all, "02:4f:4d:58:00:04", "eth3"), HasSubstr("port of br0"));
  EXPECT_THAT(refusal(all, "02:4f:4d:58:00:99"), HasSubstr("no interface has; there are: lo, eth0"));
  all[3].master = "bond0";
  EXPECT_THAT(refusal(all, "02:4f:4d:58:00:03"), HasSubstr("eth2: port of bond0"));
}

TEST(interfaces_choose, network__those_with_an_address_in_it) {
  const std::vector<Interface> all = cards();
  EXPECT_THAT(taken(all, "10.77.2.0/24"), ElementsAre("eth1"));
  EXPECT_THAT(taken(all, "10.77.2.9"), ElementsAre("eth1"));
  EXPECT_THAT(taken(all, "10.77.3.200/23,10.77.1.0/24"), ElementsAre("eth1", "eth2", "eth0"));
  EXPECT_THAT(taken(all, "fd4f::4"), ElementsAre("eth3"));
  EXPECT_THAT(taken(all, "fd4f::/127"), ElementsAre("eth0"));
  EXPECT_THAT(taken(all, "fd4f::/16"), ElementsAre("eth0", "eth1", "eth2", "eth3"));
  EXPECT_THAT(taken(all, "172.16.0.0/12"), ElementsAre("docker0"));  // asked for
  EXPECT_THAT(taken(all, "0.0.0.0/0"), ElementsAre("eth0", "eth1", "eth2", "eth3", "docker0"));
  EXPECT_THAT(taken(all, "::/0"), ElementsAre("eth0", "eth1", "eth2", "eth3"));  // not 172.17.0.1
  EXPECT_THAT(refusal(all, "10.78.0.0/16"), HasSubstr("no interface has; there are: lo"));
  EXPECT_THAT(refusal(all, "127.0.0.0/8"), HasSubstr("lo: loopback, only taken by its name"));
}

TEST(interfaces_choose, network__what_works_first) {
  std::vector<Interface> all = cards();
  all[1].up = all[2].running = false;
  EXPECT_THAT(taken(all, "10.77.0.0/16"), ElementsAre("eth2", "eth3", "eth0", "eth1"));
}

TEST(interfaces_choose, pci__with_and_without_a_domain) {
  const std::vector<Interface> all = cards();
  EXPECT_THAT(taken(all, "0000:3B:00.1"), ElementsAre("eth1"));
  EXPECT_THAT(taken(all, "3b:00.3,eth0"), ElementsAre("eth3", "eth0"));
  EXPECT_THAT(refusal(all, "0001:3b:00.1"), HasSubstr("PCI address 0001:3b:00.1,"));
}

TEST(interfaces_choose, speed__the_fastest_first_of_what_is_taken_by_default) {
  std::vector<Interface> all = cards();
  EXPECT_THAT(taken(all, "speed=10g"), ElementsAre("eth0", "eth1"));  // not br0, docker0
  EXPECT_THAT(taken(all, "speed>=10000"), ElementsAre("eth2", "eth3", "eth0", "eth1"));
  EXPECT_THAT(taken(all, "speed>=10001m"), ElementsAre("eth2", "eth3"));
  EXPECT_THAT(taken(all, "eth1,speed>=25G"), ElementsAre("eth1", "eth2", "eth3"));
  EXPECT_THAT(reason(all, "speed=10g", "docker0"), HasSubstr("bridge"));
  EXPECT_THAT(refusal(all, "speed=40g"), HasSubstr("which no interface has (omx info shows their speeds)"));
  all[3].up = all[4].up = false;
  EXPECT_THAT(refusal(all, "speed=25g"), HasSubstr("eth2: down (ip link set eth2 up)"));
  for (Interface& i : all) i.speed_mbps = -1;
  EXPECT_THAT(refusal(all, "speed>=1g"), HasSubstr("no interface here tells its speed: write names"));
}

TEST(interfaces_choose, malformed__is_told_what_may_be_written) {
  for (const char* word :
       {"10.77.0.0/33", "10.77.0.0/", "10.77.0/24", "10.77.0.300", "fd4f::/129", "fd4f:::1", "eth0/24",
        "02:4f:4d:58:00", "02:4f:4d:58:00:0g", "02:4f:4d:58:00:01:02", "3b:00", "3b:00.00",
        "speed=", "speed=fast", "speed>=0", "speed==10g", "speed<=10g", "speed=10gg", "speed=-1"}) {
    EXPECT_THAT(refusal(cards(), word), testing::AllOf(HasSubstr("holds " + std::string(word) + ";"),
                                                       HasSubstr("write a name, a MAC address, a network")));
  }
  // Every word that may be the name of an interface is one.
  for (const char* word : {"speedy", "02-4f-4d", "024f4d580001", "cafe", "eth0.6", "all,eth0"})
    EXPECT_THAT(refusal(cards(), word), HasSubstr("does not exist; there are:"));
}

TEST(interfaces_choose, names__come_before_what_they_look_like) {
  std::vector<Interface> all = {make("eth0", "physical"), make("speed=10g", "physical"),
                                make("10.77.1.9", "physical")};
  all[0].speed_mbps = 10000;
  all[0].addresses = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 1, 9}};
  EXPECT_THAT(taken(all, "speed=10g"), ElementsAre("speed=10g"));
  EXPECT_THAT(taken(all, "10.77.1.9"), ElementsAre("10.77.1.9"));
}

// Returns RTM_NEWLINK of an Ethernet interface that is up.
omx::Datagram link_message(int index, const std::string& name, std::uint16_t flags) {
  ifinfomsg link{};
  link.ifi_index = index;
  link.ifi_type = ARPHRD_ETHER;
  link.ifi_flags = IFF_UP | IFF_RUNNING;
  NetlinkRequest message(RTM_NEWLINK, link);
  message.attribute(IFLA_IFNAME, name.c_str(), name.size() + 1);
  message.attribute(IFLA_MTU, std::uint32_t{9000});
  const NetlinkBytes bytes = message.finish(flags, 0);
  return {bytes.begin(), bytes.end()};
}

TEST(interfaces_netlink, a_torn_answer_is_read_again) {
  auto port = std::make_unique<ScriptedNetlink>();
  ScriptedNetlink& kernel = *port;
  Netlink netlink(std::move(port));
  // While "eth0" was deleted, another interface moved into the gap between two parts of the answer.
  kernel.answer({link_message(2, "omx-eth0", NLM_F_MULTI), link_message(4, "omx-eth2", NLM_F_MULTI),
                 netlink_end(NLMSG_DONE, 0, NLM_F_MULTI | NLM_F_DUMP_INTR)});
  kernel.answer({link_message(3, "omx-eth1", NLM_F_MULTI), link_message(4, "omx-eth2", NLM_F_MULTI),
                 netlink_end(NLMSG_DONE, 0, NLM_F_MULTI)});
  std::vector<Interface> list;
  ASSERT_TRUE(interfaces_read_netlink(netlink, list));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].name, "omx-eth1");
  EXPECT_EQ(list[1].name, "omx-eth2");
  EXPECT_EQ(list[1].mtu, 9000U);
  EXPECT_TRUE(list[1].ethernet && list[1].up && list[1].running);
}

}  // namespace
}  // namespace omx::link
