// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include "tuning/judge_delay.h"
#include "tuning/judge_host.h"
#include "tuning/judge_interface.h"
#include "tuning/judge_queues.h"

namespace omx::tuning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

InterfaceFacts card() {
  InterfaceFacts facts;
  facts.interface.name = "eth0";
  facts.interface.mtu = 9000;
  facts.sysfs = true;
  facts.coalescing = Coalescing{};
  facts.channels = tl::unexpected<int>(EOPNOTSUPP);
  facts.rings = tl::unexpected<int>(EOPNOTSUPP);
  facts.features = tl::unexpected<int>(EOPNOTSUPP);
  facts.defer_hard_irqs = "1";
  facts.gro_flush_timeout = "5000";
  return facts;
}

InterfaceFacts veth() {
  InterfaceFacts facts = card();
  facts.interface.virtual_kind = true;
  facts.coalescing = tl::unexpected<int>(EOPNOTSUPP);
  facts.defer_hard_irqs = facts.gro_flush_timeout = "0";
  return facts;
}

HostFacts four_processors() {
  HostFacts host;
  host.online = {0, 1, 2, 3};
  host.nodes = {{0, 1}, {2, 3}};
  return host;
}

std::vector<std::string> changes(const Finding& finding) {
  std::vector<std::string> list;
  for (const Change& c : finding.changes) list.push_back(c.setting.name + " " + c.former + " " + c.wanted);
  return list;
}

std::vector<Finding> better(const std::vector<Finding>& all) {
  std::vector<Finding> list;
  for (const Finding& f : all) {
    EXPECT_FALSE(f.meaning.empty()) << f.subject;
    EXPECT_EQ(f.verdict == Verdict::better, !f.commands.empty()) << f.subject;
    if (f.verdict == Verdict::better) {
      list.push_back(f);
    } else {
      EXPECT_THAT(f.changes, IsEmpty()) << f.subject;
    }
  }
  return list;
}

TEST(coalescing_judge, immediate__is_ok) {
  EXPECT_EQ(coalescing_judge(card()).verdict, Verdict::ok);
  InterfaceFacts facts = card();
  facts.coalescing->rx_usecs = 5;
  facts.coalescing->rx_frames = 64;
  EXPECT_EQ(coalescing_judge(facts).verdict, Verdict::ok);
}

TEST(coalescing_judge, adaptive__off_first_and_the_rest_guarded) {
  InterfaceFacts facts = card();
  facts.coalescing = Coalescing{true, true, 50, 128, 50, 32};
  const Finding f = coalescing_judge(facts);
  EXPECT_EQ(f.verdict, Verdict::better);
  EXPECT_THAT(changes(f), ElementsAre("adaptive-rx on off", "rx-frames 128 1", "rx-usecs 50 0"));
  EXPECT_THAT(f.commands, ElementsAre("ethtool -C eth0 adaptive-rx off rx-frames 1 rx-usecs 0"));
  EXPECT_EQ(f.guards.size(), 6U);
  EXPECT_THAT(f.meaning, HasSubstr("varies"));
}

TEST(coalescing_judge, without_deferral__a_short_delay_stays) {
  InterfaceFacts facts = card();
  facts.defer_hard_irqs.reset();
  facts.coalescing->rx_usecs = 50;
  facts.coalescing->rx_frames = 25;
  EXPECT_THAT(changes(coalescing_judge(facts)), ElementsAre("rx-usecs 50 5"));
  EXPECT_THAT(coalescing_judge(facts).meaning, HasSubstr("50 us"));
}

TEST(coalescing_judge, frames_only__released_by_nothing_else) {
  InterfaceFacts facts = card();
  facts.coalescing->rx_frames = 64;
  EXPECT_THAT(changes(coalescing_judge(facts)), ElementsAre("rx-frames 64 1"));
}

TEST(coalescing_judge, dynamic_modes_of_intels_drivers__are_no_times) {
  struct Case {
    const char* driver;
    std::uint32_t rx_usecs;
    const char* wait;  // nullptr: the value is a time
  };
  for (const Case& one : std::initializer_list<Case>{{"igb", 1, "250 us"},
                                                     {"igb", 3, "250 us"},
                                                     {"igc", 3, "250 us"},
                                                     {"igbvf", 2, "250 us"},
                                                     {"igbvf", 3, "250 us"},
                                                     {"e1000e", 1, "250 us"},
                                                     {"e1000e", 3, "250 us"},
                                                     {"e1000e", 4, "500 us"},
                                                     {"e1000", 3, "250 us"},
                                                     {"ixgbe", 1, "126 us"},
                                                     {"ixgbevf", 1, "84 us"},
                                                     {"ixgbe", 3, nullptr},
                                                     {"igb", 0, nullptr},
                                                     {"e1000e", 0, nullptr},
                                                     {"ice", 1, nullptr},
                                                     {"", 3, nullptr}}) {
    InterfaceFacts facts = card();
    facts.interface.driver = one.driver;
    facts.coalescing->rx_usecs = one.rx_usecs;
    const Finding f = coalescing_judge(facts);
    EXPECT_EQ(f.verdict, one.wait ? Verdict::better : Verdict::ok) << one.driver << one.rx_usecs;
    if (!one.wait) continue;
    EXPECT_THAT(f.meaning, testing::AllOf(HasSubstr(one.driver), HasSubstr("dynamic"), HasSubstr(one.wait)));
    EXPECT_THAT(f.value, HasSubstr("(a dynamic mode)"));
    EXPECT_THAT(changes(f), ElementsAre("rx-usecs " + std::to_string(one.rx_usecs) + " 0"));
  }
}

TEST(coalescing_judge, without_deferral__no_time_that_the_driver_refuses) {
  InterfaceFacts facts = card();
  facts.defer_hard_irqs.reset();
  facts.interface.driver = "igb";
  facts.coalescing->rx_usecs = 3;
  EXPECT_THAT(changes(coalescing_judge(facts)), ElementsAre("rx-usecs 3 10"));
  facts.coalescing->rx_usecs = 50;
  EXPECT_THAT(changes(coalescing_judge(facts)), ElementsAre("rx-usecs 50 10"));
  facts.coalescing->rx_usecs = 10;
  EXPECT_EQ(coalescing_judge(facts).verdict, Verdict::ok);
  facts.interface.driver = "ixgbe";
  facts.coalescing->rx_usecs = 1;
  EXPECT_THAT(changes(coalescing_judge(facts)), ElementsAre("rx-usecs 1 5"));
}

TEST(coalescing_judge, absent__unknown_of_hardware_only) {
  InterfaceFacts facts = card();
  facts.coalescing = tl::unexpected<int>(EOPNOTSUPP);
  EXPECT_EQ(coalescing_judge(facts).verdict, Verdict::unknown);
  EXPECT_EQ(coalescing_judge(veth()).verdict, Verdict::ok);
}

TEST(deferral_judge, hardware) {
  InterfaceFacts facts = card();
  EXPECT_EQ(deferral_judge(facts).verdict, Verdict::ok);
  facts.defer_hard_irqs = facts.gro_flush_timeout = "0";
  EXPECT_THAT(changes(deferral_judge(facts)),
              ElementsAre("gro_flush_timeout 0 5000", "napi_defer_hard_irqs 0 1"));
  facts.defer_hard_irqs = "10";
  facts.gro_flush_timeout = "20000";
  EXPECT_THAT(changes(deferral_judge(facts)),
              ElementsAre("gro_flush_timeout 20000 5000", "napi_defer_hard_irqs 10 1"));
  facts.defer_hard_irqs.reset();
  EXPECT_EQ(deferral_judge(facts).verdict, Verdict::unknown);
}

TEST(deferral_judge, queues_set_apart) {
  InterfaceFacts facts = card();
  facts.napis = std::vector<Napi>{{257, 40, 1, 5000, 0}, {258, 41, 7, 200000, 0}, {259, 0, 1, 4000, 0}};
  Finding f = deferral_judge(facts);
  EXPECT_EQ(f.verdict, Verdict::better);
  EXPECT_EQ(
      f.value,
      "napi_defer_hard_irqs 1, gro_flush_timeout 5000 ns; queue of interrupt 41: 7, 200000 ns; queue of "
      "NAPI 259: 1, 4000 ns");
  EXPECT_THAT(f.meaning, HasSubstr("set apart: a message that follows others may wait 200 us"));
  EXPECT_THAT(changes(f), ElementsAre("258/gro-flush-timeout 200000 5000",
                                      "258/defer-hard-irqs 7 1"));  // 259 needs no change
  EXPECT_THAT(
      f.commands,
      testing::Contains(R"(ynl --family netdev --do napi-set --json '{"id": 258, "defer-hard-irqs": 1}')"));
  // If the interface's value changes for all queues, the former values of the queues are restored later.
  facts.defer_hard_irqs = "0";
  f = deferral_judge(facts);
  EXPECT_THAT(changes(f), ElementsAre("napi_defer_hard_irqs 0 1"));
  EXPECT_EQ(f.guards.size(), 6U);
  // Linux 6.8 to 6.12 does not report these values.
  facts = card();
  facts.napis = std::vector<Napi>{{257, 40, {}, {}, {}}};
  EXPECT_EQ(deferral_judge(facts).verdict, Verdict::ok);
}

TEST(suspension_judge, all) {
  InterfaceFacts facts = card();
  facts.napis = std::vector<Napi>{{257, 40, 1, 5000, 0}, {258, 41, 1, 5000, 0}};
  EXPECT_EQ(suspension_judge(facts).verdict, Verdict::ok);
  facts.napis->at(1).irq_suspend_timeout = 20000000;
  const Finding f = suspension_judge(facts);
  EXPECT_EQ(f.verdict, Verdict::better);
  EXPECT_EQ(f.value, "irq-suspend-timeout 20000000 ns");
  EXPECT_THAT(f.meaning, HasSubstr("up to 20000 us"));
  EXPECT_THAT(
      f.commands,
      ElementsAre(R"(ynl --family netdev --do napi-set --json '{"id": 258, "irq-suspend-timeout": 0}')"));
  EXPECT_THAT(f.changes, IsEmpty());  // the administrator chose this value
  facts.napis->at(0).irq_suspend_timeout.reset();
  EXPECT_EQ(suspension_judge(facts).verdict, Verdict::unknown);
  EXPECT_THAT(suspension_judge(facts).meaning, HasSubstr("6.13"));
  facts.napis = tl::unexpected<int>(EOPNOTSUPP);
  EXPECT_THAT(suspension_judge(facts).meaning, HasSubstr("6.8"));
  facts.napis = std::vector<Napi>{};
  EXPECT_EQ(suspension_judge(facts).verdict, Verdict::ok);
}

TEST(deferral_judge, virtual__waits_for_nothing) {
  InterfaceFacts facts = veth();
  EXPECT_EQ(deferral_judge(facts).verdict, Verdict::ok);
  facts.gro_flush_timeout = "5000";
  EXPECT_THAT(changes(deferral_judge(facts)), ElementsAre("gro_flush_timeout 5000 0"));
  facts.gro_flush_timeout = "200000";
  facts.defer_hard_irqs = "2";
  EXPECT_THAT(changes(deferral_judge(facts)),
              ElementsAre("gro_flush_timeout 200000 0", "napi_defer_hard_irqs 2 0"));
}

TEST(interrupts_judge, unbound__one_processor_each_near_the_nic) {
  InterfaceFacts facts = card();
  facts.interface.numa_node = 1;
  for (const int i : {0, 1, 2})
    facts.interrupts.push_back({std::to_string(40 + i), "eth0-rx", i, "0-3", "0"});
  const Finding f = interrupts_judge(facts, four_processors());
  EXPECT_EQ(f.verdict, Verdict::better);
  EXPECT_THAT(changes(f), ElementsAre("40 0-3 2", "41 0-3 3", "42 0-3 2"));
  EXPECT_THAT(f.commands, testing::Contains("echo 2 > /proc/irq/40/smp_affinity_list"));
}

TEST(interrupts_judge, bound) {
  InterfaceFacts facts = card();
  facts.interface.numa_node = 1;
  facts.interrupts = {{"40", "eth0-rx-0", 0, "3", "3"}, {"41", "eth0-rx-1", 1, "2", "2"}};
  EXPECT_EQ(interrupts_judge(facts, four_processors()).verdict, Verdict::ok);
  facts.interrupts[0].allowed = "2";  // both queues on one processor
  EXPECT_THAT(interrupts_judge(facts, four_processors()).meaning, HasSubstr("share a processor"));
  EXPECT_THAT(changes(interrupts_judge(facts, four_processors())), ElementsAre("41 2 3"));
  facts.interrupts[0].allowed = "1";
  EXPECT_THAT(interrupts_judge(facts, four_processors()).meaning, HasSubstr("far from the NIC"));
  facts.interrupts[0].allowed = "";
  EXPECT_EQ(interrupts_judge(facts, four_processors()).verdict, Verdict::unknown);
}

TEST(interrupts_judge, offline_processors__are_not_used) {
  InterfaceFacts facts = card();
  facts.interface.numa_node = 1;
  facts.interrupts = {{"40", "eth0-rx-0", 0, "3", ""}, {"41", "eth0-rx-1", 1, "2-3", "2"}};
  HostFacts host = four_processors();
  host.online = {0, 1, 2};
  const Finding f = interrupts_judge(facts, host);
  EXPECT_THAT(f.meaning, HasSubstr("interrupt 40 is bound to processors that are switched off"));
  EXPECT_THAT(changes(f), ElementsAre("40 3 2", "41 2-3 2"));
  host.online = {0, 1};  // no processor of the NIC's node is online, so any will do
  EXPECT_THAT(changes(interrupts_judge(facts, host)), ElementsAre("40 3 0", "41 2-3 1"));
}

TEST(channels_judge, more_processors_than_queues__by_hand) {
  InterfaceFacts facts = card();
  facts.channels = Channels{0, 0, 0, 0, 1, 64};
  const Finding f = channels_judge(facts, four_processors());
  EXPECT_EQ(f.verdict, Verdict::better);
  EXPECT_THAT(f.commands, ElementsAre("ethtool -L eth0 combined 4"));
  EXPECT_THAT(f.changes, IsEmpty());
  facts.channels = Channels{1, 2, 1, 2, 0, 0};
  EXPECT_THAT(channels_judge(facts, four_processors()).commands, ElementsAre("ethtool -L eth0 rx 2"));
  facts.interface.virtual_kind = true;
  EXPECT_THAT(channels_judge(facts, four_processors()).commands, IsEmpty());
  facts.interface.virtual_kind = false;
  facts.channels = Channels{0, 0, 0, 0, 4, 64};
  EXPECT_EQ(channels_judge(facts, four_processors()).verdict, Verdict::ok);
}

TEST(rings_judge, small__interrupts_and_xps_are_guarded) {
  InterfaceFacts facts = card();
  facts.rings = Rings{256, 4096, 256, 4096};
  facts.interrupts = {{"40", "eth0-rx-0", 0, "3", "3"}};
  facts.xps = {{"tx-0", "1"}};
  const Finding f = rings_judge(facts);
  EXPECT_THAT(changes(f), ElementsAre("rx 256 1024"));
  EXPECT_THAT(f.guards, ElementsAre(Setting{SettingKind::irq, "eth0", "40"},
                                    Setting{SettingKind::device_file, "eth0", "queues/tx-0/xps_cpus"}));
  facts.rings = Rings{256, 256, 256, 256};
  EXPECT_EQ(rings_judge(facts).verdict, Verdict::ok);
  facts.rings = Rings{4096, 4096, 256, 4096};
  EXPECT_EQ(rings_judge(facts).verdict, Verdict::ok);
}

TEST(rps_judge, masks__keep_their_shape) {
  InterfaceFacts facts = card();
  EXPECT_EQ(rps_judge(facts).verdict, Verdict::unknown);
  facts.rps = {{"rx-0", "00000000,00000000"}, {"rx-1", "00000000,0000000f"}};
  const Finding f = rps_judge(facts);
  EXPECT_EQ(f.value, "rx-1 00000000,0000000f");
  EXPECT_THAT(changes(f), ElementsAre("queues/rx-1/rps_cpus 00000000,0000000f 00000000,00000000"));
  facts.rps.pop_back();
  EXPECT_EQ(rps_judge(facts).verdict, Verdict::ok);
}

TEST(xps_judge, off__each_processor_by_the_queue_of_its_interrupt) {
  InterfaceFacts facts = card();
  facts.interface.numa_node = 1;
  facts.xps = {{"tx-0", "00000000,00000000"}, {"tx-1", "00000000,00000000"}};
  facts.interrupts = {{"40", "eth0-TxRx-0", 0, "3", "3"}, {"41", "eth0-TxRx-1", 1, "2", "2"}};
  Finding f = xps_judge(facts, four_processors());
  EXPECT_EQ(f.verdict, Verdict::better);
  EXPECT_THAT(changes(f), ElementsAre("queues/tx-0/xps_cpus 00000000,00000000 00000000,00000009",
                                      "queues/tx-1/xps_cpus 00000000,00000000 00000000,00000006"));
  EXPECT_THAT(f.commands, ElementsAre("echo 00000000,00000009 > /sys/class/net/eth0/queues/tx-0/xps_cpus",
                                      "echo 00000000,00000006 > /sys/class/net/eth0/queues/tx-1/xps_cpus"));
  // XPS follows the interrupts as they will be after the change.
  facts.interrupts[0].allowed = "2";
  EXPECT_THAT(changes(interrupts_judge(facts, four_processors())), ElementsAre("41 2 3"));
  EXPECT_THAT(changes(xps_judge(facts, four_processors())),
              ElementsAre("queues/tx-0/xps_cpus 00000000,00000000 00000000,00000005",
                          "queues/tx-1/xps_cpus 00000000,00000000 00000000,0000000a"));
}

TEST(xps_judge, queues_without_interrupts_of_their_own__take_turns) {
  InterfaceFacts facts = card();
  HostFacts host;
  for (int cpu = 0; cpu < 40; cpu += 13) host.online.push_back(cpu);  // 0, 13, 26, 39
  // The queues have the order of a folder.
  for (const char* queue :
       {"tx-0", "tx-1", "tx-10", "tx-2", "tx-3", "tx-4", "tx-5", "tx-6", "tx-7", "tx-8", "tx-9"})
    facts.xps.push_back({queue, "00,00000000"});
  facts.interrupts = {{"40", "eth0", 0, "0", "0"}};
  EXPECT_THAT(changes(xps_judge(facts, host)), ElementsAre("queues/tx-0/xps_cpus 00,00000000 00,00000001",
                                                           "queues/tx-1/xps_cpus 00,00000000 00,00002000",
                                                           "queues/tx-2/xps_cpus 00,00000000 00,04000000",
                                                           "queues/tx-3/xps_cpus 00,00000000 80,00000000"));
}

TEST(xps_judge, nothing_to_gain) {
  InterfaceFacts facts = card();
  facts.xps = {{"tx-0", "1"}, {"tx-1", "0"}};  // the administrator's choice
  EXPECT_EQ(xps_judge(facts, four_processors()).verdict, Verdict::ok);
  facts.xps = {{"tx-0", "0"}};
  EXPECT_EQ(xps_judge(facts, four_processors()).verdict, Verdict::ok);
  facts.xps = {{"tx-0", "0"}, {"tx-1", "0"}};
  EXPECT_EQ(xps_judge(facts, four_processors()).verdict, Verdict::better);
  HostFacts one;
  one.online = {0};
  EXPECT_EQ(xps_judge(facts, one).verdict, Verdict::ok);
  facts.interface.virtual_kind = true;
  EXPECT_EQ(xps_judge(facts, four_processors()).verdict, Verdict::ok);
}

TEST(interface_judge, offloads__only_what_can_be_switched) {
  InterfaceFacts facts = card();
  facts.features = std::vector<Feature>{{"rx-gro", true, false, false},
                                        {"tx-scatter-gather", false, false, false},
                                        {"tx-udp-segmentation", true, true, false},
                                        {"rx-lro", true, true, true}};
  std::vector<Finding> list = better(interface_judge(facts, four_processors()));
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].value, "GRO off, scatter-gather off, UDP segmentation off, LRO on");
  EXPECT_THAT(changes(list[0]), ElementsAre("rx-gro off on"));
  EXPECT_THAT(list[0].commands, ElementsAre("ethtool -K eth0 gro on"));
  facts.interface.virtual_kind = true;
  for (const Finding& f : interface_judge(facts, four_processors())) {
    EXPECT_TRUE(f.subject != "offloads" || f.changes.empty());
  }
}

TEST(interface_judge, offloads__segmentation_that_was_found_not_to_work) {
  InterfaceFacts facts = card();
  facts.features = std::vector<Feature>{{"tx-udp-segmentation", true, true, true}};
  EXPECT_TRUE(better(interface_judge(facts, four_processors())).empty());
  facts.segmentation_fails = true;
  const std::vector<Finding> list = better(interface_judge(facts, four_processors()));
  ASSERT_EQ(list.size(), 1U);
  EXPECT_THAT(list[0].meaning, HasSubstr("does not work"));
  EXPECT_THAT(changes(list[0]), ElementsAre("tx-udp-segmentation on off"));
  EXPECT_THAT(list[0].commands, ElementsAre("ethtool -K eth0 tx-udp-segmentation off"));
  facts.features = std::vector<Feature>{{"tx-udp-segmentation", true, false, false}};
  EXPECT_TRUE(better(interface_judge(facts, four_processors())).empty()) << "it is not switched on again";
}

TEST(interface_judge, mtu_and_threads) {
  InterfaceFacts facts = card();
  facts.interface.mtu = 1500;
  facts.threaded = "1";
  std::vector<Finding> list = better(interface_judge(facts, four_processors()));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_THAT(list[0].commands, ElementsAre("ip link set dev eth0 mtu 9000"));
  EXPECT_THAT(list[0].changes, IsEmpty());
  EXPECT_THAT(changes(list[1]), ElementsAre("threaded 1 0"));
  facts.interface.mtu = 65535;
  facts.threaded = "0";
  EXPECT_THAT(better(interface_judge(facts, four_processors())), IsEmpty());
}

TEST(interface_judge, sysfs_of_another_namespace__is_said) {
  InterfaceFacts facts = card();
  facts.sysfs = false;
  const auto all = interface_judge(facts, four_processors());
  EXPECT_THAT(all.back().meaning, HasSubstr("another network namespace"));
  EXPECT_THAT(all.back().commands, ElementsAre(HasSubstr("mount -t sysfs")));
}

TEST(interface_judge, bond__is_judged_by_its_ports) {
  InterfaceFacts facts = veth();
  facts.interface.kind = "bond";
  auto all = interface_judge(facts, four_processors());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].value, "not visible here");
  facts.below = {"eth0", "eth1"};
  all = interface_judge(facts, four_processors());
  EXPECT_EQ(all[1].verdict, Verdict::unknown);
  EXPECT_THAT(all[1].commands, ElementsAre("omx check eth0 eth1"));
}

TEST(host_judge, virtual_machine__nothing_to_choose) {
  for (const Finding& f : host_judge(HostFacts{})) {
    EXPECT_NE(f.verdict, Verdict::better) << f.subject;
  }
}

TEST(host_judge, power_and_buffers) {
  HostFacts facts = four_processors();
  facts.idle = {{"state1", "C1", 2, {0, 1}}, {"state3", "C6", 133, {0, 1}}, {"state4", "C7", 200, {}}};
  facts.governors = {{0, "powersave"}, {1, "performance"}};
  facts.performance_available = true;
  facts.rmem_max = "212992";
  facts.wmem_max = "67108864";
  facts.irqbalance = true;
  const std::vector<Finding> list = better(host_judge(facts));
  ASSERT_EQ(list.size(), 4U);
  EXPECT_THAT(changes(list[0]), ElementsAre("/sys/devices/system/cpu/cpu0/cpuidle/state3/disable 0 1",
                                            "/sys/devices/system/cpu/cpu1/cpuidle/state3/disable 0 1"));
  EXPECT_THAT(changes(list[1]),
              ElementsAre("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor powersave performance"));
  EXPECT_THAT(list[2].commands, ElementsAre("sysctl -w net.core.rmem_max=33554432"));
  EXPECT_THAT(list[3].commands, ElementsAre("systemctl stop irqbalance"));
  EXPECT_THAT(list[3].changes, IsEmpty());
  for (const Finding& f : list) {
    for (const Change& c : f.changes) EXPECT_TRUE(setting_valid(c.setting)) << c.setting.name;
  }
}

TEST(host_judge, governor__not_available) {
  HostFacts facts;
  facts.governors = {{0, "schedutil"}};
  for (const Finding& f : host_judge(facts)) {
    if (f.subject == "frequency governor") {
      EXPECT_EQ(f.verdict, Verdict::unknown);
      EXPECT_EQ(f.value, "schedutil");
    }
    EXPECT_THAT(f.changes, IsEmpty());
  }
}

}  // namespace
}  // namespace omx::tuning
