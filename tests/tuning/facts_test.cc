// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/facts_host.h"
#include "tuning/facts_interface.h"

#include <gmock/gmock.h>

#include "tests/support/fake_machine.h"

namespace omx::tuning {
namespace {

using testing::ElementsAre;

class facts : public FakeMachine {};

TEST_F(facts, interface__files_of_another_namespace_are_not_read) {
  add_card("eth0", 2);
  link::Interface other = interface_of("eth0");
  EXPECT_EQ(interface_facts_read(machine, other).gro_flush_timeout, "0");
  other.index = 7;
  const InterfaceFacts read = interface_facts_read(machine, other);
  EXPECT_FALSE(read.sysfs);
  EXPECT_FALSE(read.gro_flush_timeout);
  EXPECT_TRUE(read.interrupts.empty());
}

TEST_F(facts, interface__driver_without_anything) {
  add_card("eth0", 2);
  write("/sys/class/net/eth0/lower_eth7/ifindex", "7");
  std::filesystem::remove(root / "sys/class/net/eth0/napi_defer_hard_irqs");
  const InterfaceFacts read = interface_facts_read(machine, interface_of("eth0"));
  EXPECT_EQ(read.coalescing.error(), EOPNOTSUPP);
  EXPECT_EQ(read.channels.error(), EOPNOTSUPP);
  EXPECT_FALSE(read.features);
  EXPECT_FALSE(read.defer_hard_irqs);
  EXPECT_TRUE(read.rps.empty());
  EXPECT_THAT(read.below, ElementsAre("eth7"));
}

TEST_F(facts, host__offline_processors_nodes_and_states) {
  write("/sys/devices/system/cpu/online", "0,2-3");
  write("/sys/devices/system/node/has_cpu", "0-1");
  write("/sys/devices/system/node/node0/cpulist", "0-1");
  write("/sys/devices/system/node/node1/cpulist", "2-3");
  write("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle");
  for (const std::string cpu : {"0", "1", "2"}) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + cpu;
    write(folder + "/cpuidle/state3/name", "C6");
    write(folder + "/cpuidle/state3/latency", "133");
    write(folder + "/cpuidle/state3/disable", cpu == "2" ? "1" : "0");
    write(folder + "/cpufreq/scaling_governor", cpu == "0" ? "powersave" : "performance");
    write(folder + "/cpufreq/scaling_available_governors", "performance powersave");
  }
  write("/proc/sys/net/core/rmem_max", "212992");
  write("/proc/17/comm", "irqbalance");
  const HostFacts read = host_facts_read(machine);
  EXPECT_THAT(read.online, ElementsAre(0, 2, 3));
  ASSERT_EQ(read.nodes.size(), 2U);
  EXPECT_THAT(read.nodes[1], ElementsAre(2, 3));
  ASSERT_EQ(read.idle.size(), 1U);
  EXPECT_EQ(read.idle[0].name, "C6");
  EXPECT_EQ(read.idle[0].latency_us, 133U);
  EXPECT_THAT(read.idle[0].enabled, ElementsAre(0));  // 1 is offline, and the state is disabled on 2
  EXPECT_THAT(read.governors, ElementsAre(std::pair(0, "powersave"), std::pair(2, "performance")));
  EXPECT_TRUE(read.performance_available);
  EXPECT_EQ(read.rmem_max, "212992");
  EXPECT_FALSE(read.wmem_max);
  EXPECT_TRUE(read.irqbalance);
}

}  // namespace
}  // namespace omx::tuning
