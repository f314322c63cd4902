// SPDX-License-Identifier: BSD-3-Clause
#include "steering/interrupts.h"

#include <gmock/gmock.h>

#include "tests/support/fake_tree.h"

namespace omx::steering {
namespace {

using testing::ElementsAre;

class interrupts : public link::FakeTree {
 protected:
  std::vector<std::string> listed(const std::string& interface) const {
    std::vector<std::string> list;
    for (const Interrupt& i : interrupts_read(root.string(), interface_of(interface))) {
      list.push_back(i.number + " " + i.name + " " + std::to_string(i.queue));
    }
    return list;
  }
};

TEST_F(interrupts, of_receive_queues_by_queue) {
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
  // Without msi_irqs, names decide. eth10 is another interface.
  EXPECT_THAT(listed("eth1"), ElementsAre("61 eth1-TxRx-2 2", "60 eth1-TxRx-10 10"));
}

TEST_F(interrupts, named_by_the_pci_address) {
  add_card("ens1rx", 2);
  for (const int number : {70, 71, 72}) add_interrupt("ens1rx", number, "0-3");
  write("/proc/interrupts",
        "       CPU0\n"
        " 70:   1  IR-PCI-MSIX 0-edge  mlx5_async0@pci:0000:3b:00.0\n"
        " 71:   1  IR-PCI-MSIX 1-edge  mlx5_comp0@pci:0000:3b:00.0\n"
        " 72:   1  IR-PCI-MSIX 2-edge  mlx5_comp1@pci:0000:3b:00.0\n"
        " 73:   1  IR-PCI-MSIX 2-edge  mlx5_comp1@pci:0000:3b:00.1");
  EXPECT_THAT(listed("ens1rx"),
              ElementsAre("71 mlx5_comp0@pci:0000:3b:00.0 0", "72 mlx5_comp1@pci:0000:3b:00.0 1"));
  EXPECT_EQ(interrupts_read(root.string(), interface_of("ens1rx"))[0].allowed, "0-3");
}

TEST_F(interrupts, of_the_pci_device_below_a_virtio_device) {
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
  EXPECT_THAT(listed("eth0"), ElementsAre("38 virtio2-input.0 0"));
}

TEST_F(interrupts, one_for_all_and_shared) {
  add_card("eth0", 2);
  write("/proc/interrupts", "   CPU0\n 16:   1  IO-APIC 16-fasteoi   uhci_hcd:usb1, eth0");
  EXPECT_THAT(listed("eth0"), ElementsAre("16 eth0 0"));
  EXPECT_EQ(interrupts_read(root.string(), interface_of("eth0"))[0].allowed, "");
}

}  // namespace
}  // namespace omx::steering
