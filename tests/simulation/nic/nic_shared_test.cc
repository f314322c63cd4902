// SPDX-License-Identifier: BSD-3-Clause
// What the cores of a host share, memory bus and transmit queue, and costs that belong to one class of
// messages.
#include <gtest/gtest.h>

#include "simulation/nic/collectives.h"
#include "simulation/nic/memory_bus.h"
#include "simulation/nic/transmit_queues.h"
#include "simulation/nic/workloads.h"

namespace omx::simulation::nic {
namespace {

// Runs a workload of messages of one size with one number changed. Returns its time.
double time_with(WorkResult (*work)(const WorkOptions&), std::uint32_t size, const char* name, double value,
                 std::vector<std::uint32_t> cores = {0}) {
  WorkOptions o;
  o.network.host.strategy = Strategy::off;
  o.network.host.interrupts = Interrupts::queues;
  o.network.host.process_cores = std::move(cores);
  o.size = size;
  o.iterations = 4;
  if (name != nullptr) *o.network.parameters.find(name) = value;
  const WorkResult result = work(o);
  EXPECT_EQ(result.failure, "");
  return result.time_ns;
}

struct Shared : testing::Test {
  Shared() {
    parameters.bus_rate = 1e9;
    parameters.transmit_lock_ns = 100;
  }
  // Lets virtual time pass.
  void wait(double ns) {
    bool over = false;
    scheduler.after(ns, [&over] { over = true; });
    while (!over) scheduler.step();
  }
  // Carries a transfer that begins `later` from now.
  double carry(double rate, double ns, TimeNs later = 0) {
    return bus.carry(rate, ns, scheduler.now() + later);
  }
  Scheduler scheduler;
  Parameters parameters;
  MemoryBus bus{scheduler, parameters};
  TransmitQueues queue{scheduler, parameters};
};

TEST_F(Shared, bus__a_transfer_that_it_carries_takes_its_own_time) {
  EXPECT_EQ(carry(0.5e9, 1000), 1000);
  EXPECT_EQ(carry(0.5e9, 1000), 1000);
}

TEST_F(Shared, bus__transfers_that_want_more_than_it_carries_take_longer_in_proportion) {
  EXPECT_EQ(carry(2e9, 1000), 2000);
  EXPECT_EQ(carry(2e9, 1000), 4000);
}

TEST_F(Shared, bus__a_copy_reads_and_writes) {
  EXPECT_EQ(bus.copy(500, 1000), 1000);
  wait(1001);
  EXPECT_EQ(bus.copy(1000, 1000), 2000);
  EXPECT_EQ(bus.copy(0, 0), 0);
}

TEST_F(Shared, bus__what_has_ended_or_not_begun_does_not_count) {
  carry(1e9, 1000, 5000);
  EXPECT_EQ(carry(1e9, 1000), 1000);
  EXPECT_EQ(carry(1e9, 1000, 5500), 2000);
  wait(8000);
  EXPECT_EQ(carry(1e9, 1000), 1000);
}

TEST_F(Shared, bus__a_device_is_never_delayed_but_delays_others) {
  bus.carry_first(1e9, 1000);
  bus.carry_first(1e9, 1000);
  EXPECT_EQ(carry(1e9, 100), 300);
}

TEST_F(Shared, transmit_queue__only_the_locked_part_waits) {
  EXPECT_EQ(queue.take(0, 300), 300);
  EXPECT_EQ(queue.take(0, 300), 400);
  EXPECT_EQ(queue.take(0, 50), 450) << "a frame that needs less than the lock's time holds it all along";
  wait(1000);
  EXPECT_EQ(queue.take(0, 300), 300);
}

TEST_F(Shared, transmit_queues__cores_wait_for_those_that_share_theirs) {
  parameters.transmit_queues = 2;
  TransmitQueues two{scheduler, parameters};
  EXPECT_EQ(two.take(0, 300), 300);
  EXPECT_EQ(two.take(1, 300), 300);
  EXPECT_EQ(two.take(2, 300), 400);
}

TEST(NicShared, bus_rate__slows_many_copying_cores_and_not_a_single_one) {
  const std::vector<std::uint32_t> eight = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_GT(time_with(alltoall, 1U << 20, "bus_rate", 3e9, eight),
            time_with(alltoall, 1U << 20, "bus_rate", 1e12, eight) * 1.2);
  EXPECT_EQ(time_with(pingpong, 1U << 20, "bus_rate", 6.44e9),
            time_with(pingpong, 1U << 20, "bus_rate", 1e12));
}

TEST(NicShared, transmit_lock__slows_many_sending_cores_and_not_a_single_one) {
  const std::vector<std::uint32_t> eight = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_GT(time_with(alltoall, 64, "transmit_lock_ns", 1000, eight),
            time_with(alltoall, 64, "transmit_lock_ns", 0, eight) * 1.2);
  EXPECT_EQ(time_with(pingpong, 64, "transmit_lock_ns", 1000),
            time_with(pingpong, 64, "transmit_lock_ns", 0));
}

TEST(NicShared, costs__of_replies_count_for_large_messages_only) {
  for (const char* name : {"reply_ns", "transmit_reply_ns"}) {
    EXPECT_GT(time_with(pingpong, 1U << 20, name, 5000), time_with(pingpong, 1U << 20, nullptr, 0)) << name;
    EXPECT_EQ(time_with(pingpong, 32'768, name, 5000), time_with(pingpong, 32'768, nullptr, 0)) << name;
  }
  EXPECT_GT(time_with(pingpong, 32'768, "transmit_data_ns", 5000), time_with(pingpong, 32'768, nullptr, 0));
  EXPECT_EQ(time_with(pingpong, 1U << 20, "transmit_data_ns", 5000),
            time_with(pingpong, 1U << 20, nullptr, 0));
}

}  // namespace
}  // namespace omx::simulation::nic
