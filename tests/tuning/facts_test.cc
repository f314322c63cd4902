// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/facts.h"

#include <gmock/gmock.h>

#include "fake_machine.h"

namespace omx::tuning {
namespace {

using testing::ElementsAre;

class facts : public FakeMachine {
 protected:
  std::vector<std::string> interrupts(const std::string& interface) const {
    std::vector<std::string> list;
    for (const Interrupt& i : interrupts_read(machine, interface_of(interface))) {
      list.push_back(i.number + " " + i.name + " " + std::to_string(i.queue));
    }
    return list;
  }
};

TEST_F(facts, interrupts__of_receive_queues_by_queue) {
  add_card("eth1", 2);
  write("/proc/interrupts",
        "            CPU0       CPU1\n"
        "  8:          0          0  IR-IO-APIC    8-edge      rtc0\n"
        " 60:          1          0  IR-PCI-MSIX-0000:3b:00.0    0-edge      eth1-TxRx-10\n"
        " 61:          1          0  IR-PCI-MSIX-0000:3b:00.0    1-edge      eth1-TxRx-2\n"
        " 62:          1          0  IR-PCI-MSIX-0000:3b:00.0    2-edge      eth1-tx-0\n"
        " 63:          1          0  IR-PCI-MSIX-0000:3b:00.0    3-edge      eth1\n"
        " 64:          1          0  IR-PCI-MSIX-0000:3b:00.1    0-edge      eth10-TxRx-0\n"
        "LOC:    9985977    9185926   Local timer interrupts");
  // Without msi_irqs, names tell; eth10 is another interface.
  EXPECT_THAT(interrupts("eth1"), ElementsAre("61 eth1-TxRx-2 2", "60 eth1-TxRx-10 10"));
}

TEST_F(facts, interrupts__named_by_the_pci_address) {
  add_card("ens1rx", 2);
  for (const int number : {70, 71, 72}) add_interrupt("ens1rx", number, "0-3");
  write("/proc/interrupts",
        "       CPU0\n"
        " 70:   1  IR-PCI-MSIX 0-edge  mlx5_async0@pci:0000:3b:00.0\n"
        " 71:   1  IR-PCI-MSIX 1-edge  mlx5_comp0@pci:0000:3b:00.0\n"
        " 72:   1  IR-PCI-MSIX 2-edge  mlx5_comp1@pci:0000:3b:00.0\n"
        " 73:   1  IR-PCI-MSIX 2-edge  mlx5_comp1@pci:0000:3b:00.1");
  EXPECT_THAT(interrupts("ens1rx"),
              ElementsAre("71 mlx5_comp0@pci:0000:3b:00.0 0", "72 mlx5_comp1@pci:0000:3b:00.0 1"));
  EXPECT_EQ(interrupts_read(machine, interface_of("ens1rx"))[0].allowed, "0-3");
}

TEST_F(facts, interrupts__of_the_pci_device_below_a_virtio_device) {
  add_card("eth0", 2);
  std::filesystem::remove(root / "sys/class/net/eth0/device");
  write("/sys/devices/pci1/virtio1/uevent", "");
  write("/sys/devices/pci1/msi_irqs/38", "msix");
  write("/sys/devices/pci1/msi_irqs/39", "msix");
  std::filesystem::create_directory_symlink(root / "sys/devices/pci1/virtio1",
                                            root / "sys/class/net/eth0/device");
  write("/proc/interrupts",
        "       CPU0\n"
        " 38:   1  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n"
        " 39:   1  PCI-MSIX-0000:00:03.0   2-edge      virtio2-output.0");
  EXPECT_THAT(interrupts("eth0"), ElementsAre("38 virtio2-input.0 0"));
}

TEST_F(facts, interrupts__one_for_all_and_shared) {
  add_card("eth0", 2);
  write("/proc/interrupts", "   CPU0\n 16:   1  IO-APIC 16-fasteoi   uhci_hcd:usb1, eth0");
  EXPECT_THAT(interrupts("eth0"), ElementsAre("16 eth0 0"));
  EXPECT_EQ(interrupts_read(machine, interface_of("eth0"))[0].allowed, "");
}

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
  EXPECT_THAT(read.idle[0].enabled, ElementsAre(0));  // 1 is switched off, in 2 the state is
  EXPECT_THAT(read.governors, ElementsAre(std::pair(0, "powersave"), std::pair(2, "performance")));
  EXPECT_TRUE(read.performance_available);
  EXPECT_EQ(read.rmem_max, "212992");
  EXPECT_FALSE(read.wmem_max);
  EXPECT_TRUE(read.irqbalance);
}

}  // namespace
}  // namespace omx::tuning
