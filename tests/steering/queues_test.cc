// SPDX-License-Identifier: BSD-3-Clause
#include "steering/queues.h"

#include <gmock/gmock.h>

#include "base/affinity.h"
#include "base/cpu_list.h"
#include "tests/support/fake_tree.h"

namespace omx::steering {
namespace {

class queues : public link::FakeTree {
 protected:
  // Adds a card with one receive queue for each affinity. Their interrupts begin at 40.
  void add_multi_queue(const std::vector<std::string>& affinities) const {
    add_card("eth0", 2);
    std::string table = "      CPU0\n";
    for (std::size_t i = 0; i < affinities.size(); i++) {
      add_rx("eth0", static_cast<int>(i));
      add_interrupt("eth0", static_cast<int>(40 + i), affinities[i]);
      effective(static_cast<int>(40 + i), "");
      table += " " + std::to_string(40 + i) + ":  0  PCI-MSI  eth0-TxRx-" + std::to_string(i) + "\n";
    }
    write("/proc/interrupts", table);
  }
  void add_rx(const std::string& card, int number, const std::string& rps = "0") const {
    write("/sys/class/net/" + card + "/queues/rx-" + std::to_string(number) + "/rps_cpus", rps);
    write("/sys/class/net/" + card + "/queues/tx-" + std::to_string(number) + "/xps_cpus", "0");
  }
  void effective(int interrupt, const std::string& cpus) const {
    write("/proc/irq/" + std::to_string(interrupt) + "/effective_affinity_list", cpus);
  }
  ReceiveQueues of(const std::string& name) const {
    return receive_queues_read(root.string(), interface_of(name));
  }
  // Returns the processors of an endpoint's queue: "3", "?" if unknown, "-" if there is no such queue.
  static std::string at(const ReceiveQueues& all, std::uint32_t endpoint) {
    const auto queue = queue_find(all, endpoint);
    if (!queue) return "-";
    return queue->processors.empty() ? "?" : cpu_list_text(queue->processors);
  }
};

TEST_F(queues, endpoints_take_turns) {
  add_multi_queue({"0", "1", "2", "3"});
  const ReceiveQueues all = of("eth0");
  EXPECT_EQ(all.count, 4);
  EXPECT_EQ(at(all, 0), "0");
  EXPECT_EQ(at(all, 3), "3");
  EXPECT_EQ(at(all, 6), "2");
  EXPECT_EQ(queue_find(all, 6)->source, "interrupt 42 (eth0-TxRx-2)");
  EXPECT_EQ(queue_find(all, 6)->interrupt, "42");
}

TEST_F(queues, odd_affinities) {
  write("/sys/devices/system/cpu/online", "0,2-3");
  add_multi_queue({"2-3", "0-3", "0-3", "1", "0-1"});
  effective(42, "3");
  const ReceiveQueues all = of("eth0");
  EXPECT_EQ(at(all, 0), "2,3");
  EXPECT_EQ(at(all, 1), "?");  // may go anywhere
  EXPECT_EQ(at(all, 2), "3");  // may go anywhere, but goes there now
  EXPECT_EQ(at(all, 3), "?");  // the processor is switched off
  EXPECT_EQ(at(all, 4), "0");
}

TEST_F(queues, numbers_with_holes_and_from_one) {
  add_card("eth0", 2);
  for (int i = 0; i < 4; i++) add_rx("eth0", i);
  for (const int number : {40, 41, 42}) add_interrupt("eth0", number, std::to_string(number - 40));
  write("/proc/interrupts",
        "  CPU0\n 40: 0 MSI eth0-rx-0\n 41: 0 MSI eth0-rx-1\n 42: 0 MSI eth0-rx-3\n 43: 0 MSI eth0-tx-0\n");
  ReceiveQueues all = of("eth0");
  EXPECT_EQ(at(all, 0), "0");
  EXPECT_EQ(at(all, 2), "-");
  EXPECT_EQ(at(all, 3), "2");
  EXPECT_EQ(at(all, 4), "0");
  // With as many interrupts as queues, interrupts stand for the queues, whatever their names say.
  add_interrupt("eth0", 44, "3");
  write("/proc/interrupts",
        "  CPU0\n 40: 0 MSI eth0-rx-1\n 41: 0 MSI eth0-rx-2\n 42: 0 MSI eth0-rx-3\n 44: 0 MSI eth0-rx-4\n");
  all = of("eth0");
  EXPECT_EQ(at(all, 0), "0");
  EXPECT_EQ(at(all, 3), "3");
}

TEST_F(queues, one_interrupt_for_all) {
  add_card("eth0", 2);
  for (int i = 0; i < 4; i++) add_rx("eth0", i);
  write("/proc/interrupts", "  CPU0\n 16: 0 IO-APIC eth0\n");
  write("/proc/irq/16/smp_affinity_list", "1");
  const ReceiveQueues all = of("eth0");
  EXPECT_EQ(all.count, 1);
  EXPECT_EQ(at(all, 5), "1");
}

TEST_F(queues, without_interrupts_rps_tells) {
  add_card("eth0", 2);
  add_rx("eth0", 0, "2");
  add_rx("eth0", 1, "00000000,0000000c");
  add_rx("eth0", 2, "0");
  const ReceiveQueues all = of("eth0");
  EXPECT_EQ(all.count, 3);
  EXPECT_EQ(at(all, 0), "1");
  EXPECT_EQ(at(all, 1), "2,3");
  EXPECT_EQ(at(all, 2), "-");
  EXPECT_EQ(queue_find(all, 0)->source, "RPS of eth0 rx-0");
  EXPECT_EQ(queue_find(all, 0)->interrupt, "");
}

TEST_F(queues, rps_of_which) {
  add_card("eth0", 1);
  int number = 0;
  for (const char* mask : {"0", "00000000,00000000", "8", "00000001,00000000"})
    add_rx("eth0", number++, mask);
  // Masks of switched-off processors count, too.
  EXPECT_EQ(rps_queues(root.string(), interface_of("eth0")), (std::vector<int>{2, 3}));
  link::Interface another = interface_of("eth0");
  another.index = 7;
  EXPECT_THAT(rps_queues(root.string(), another), testing::IsEmpty());
}

TEST_F(queues, rps_hands_on_what_the_interrupt_brings) {
  add_multi_queue({"0", "1"});
  add_rx("eth0", 1, "8");
  const ReceiveQueues all = of("eth0");
  EXPECT_EQ(at(all, 0), "0");
  EXPECT_EQ(at(all, 1), "3");
  EXPECT_EQ(queue_find(all, 1)->interrupt, "41");
}

TEST_F(queues, of_a_vlan__those_of_the_card) {
  add_multi_queue({"2", "3"});
  add_card("vlan5", 3);
  write("/sys/class/net/vlan5/lower_eth0/ifindex", "2");
  const ReceiveQueues all = of("vlan5");
  EXPECT_EQ(all.interface, "eth0");
  EXPECT_EQ(at(all, 1), "3");
  // With two interfaces below, it is unknown which one brings the frames.
  add_card("eth1", 4);
  write("/sys/class/net/vlan5/lower_eth1/ifindex", "4");
  EXPECT_EQ(at(of("vlan5"), 1), "-");
}

TEST_F(queues, nothing_to_read) {
  add_card("veth0", 2);
  EXPECT_EQ(at(of("veth0"), 0), "-");
  // /sys shows another namespace.
  add_multi_queue({"0", "1"});
  link::Interface other = interface_of("eth0");
  other.index = 7;
  EXPECT_EQ(at(receive_queues_read(root.string(), other), 0), "-");
  EXPECT_EQ(at(receive_queues_read("/nowhere", other), 0), "-");
  EXPECT_TRUE(processors_online("/nowhere").empty());
}

TEST_F(queues, processors_with_gaps_between_their_numbers) {
  write("/sys/devices/system/cpu/possible", "0-1,4-5");
  EXPECT_EQ(processor_numbers(root.string()), 6);
  EXPECT_EQ(processor_numbers("/nowhere"), 1);
}

}  // namespace
}  // namespace omx::steering
