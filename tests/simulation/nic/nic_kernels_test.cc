// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/kernels.h"

#include <gtest/gtest.h>

#include <map>

#include "simulation/nic/kernel_run.h"

namespace omx::simulation::nic {
namespace {

WorkOptions options(std::string_view name, Strategy strategy = Strategy::timeout) {
  WorkOptions o;
  o.kernel = name;
  o.iterations = 1;
  o.network.host.strategy = strategy;
  o.network.host.process_cores = {0, 1, 2, 3, 4, 5, 6, 7};
  o.network.host.mpi = true;
  return o;
}
WorkResult done(WorkResult result) {
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.time_ns, 0);
  return result;
}

TEST(NicKernels, programs__what_one_sends_the_other_wants_in_the_same_order) {
  for (const std::string_view name : kKernelNames) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> sent, wanted;
    double share = 0;
    for (std::uint32_t rank = 0; rank < kKernelRanks; rank++) {
      const Program program = kernel_program(name, rank);
      ASSERT_FALSE(program.empty()) << name;
      share = 0;
      for (const Step& step : program) {
        share += step.share;
        for (const Transfer& t : step.sends) sent[{rank, t.rank}].push_back(t.bytes);
        for (const Transfer& t : step.receives) wanted[{t.rank, rank}].push_back(t.bytes);
      }
      EXPECT_NEAR(share, 1, 0.02) << name;
    }
    EXPECT_EQ(sent, wanted) << name;
  }
  EXPECT_TRUE(kernel_program("zz.A", 0).empty());
}

TEST(NicKernels, sizes__are_those_of_the_benchmarks) {
  const auto largest = [](std::string_view name) {
    std::uint32_t most = 0;
    for (const Step& step : kernel_program(name, 5))
      for (const Transfer& t : step.sends) most = std::max(most, t.bytes);
    return most;
  };
  EXPECT_EQ(largest("cg.B"), 150'000U);
  EXPECT_EQ(largest("cg.C"), 300'000U);
  EXPECT_EQ(largest("ft.B"), 2U << 20);
  EXPECT_EQ(largest("is.C"), 2U << 20);
  EXPECT_EQ(largest("mg.C"), (256U + 2) * (256 + 2) * 8);
}

TEST(NicKernels, run__every_kernel_ends) {
  for (const std::string_view name : kKernelNames) {
    if (name == "ft.B" || name == "is.C") continue;  // seconds each
    EXPECT_GT(done(kernel(options(name))).frames, 0U) << name;
  }
}

TEST(NicKernels, computing__adds_its_time_and_hides_the_cost_of_interrupts) {
  WorkOptions o = options("cg.B");
  const double bare = done(kernel(o)).time_ns;
  o.compute_ns = 5e6;
  const double computing = done(kernel(o)).time_ns;
  EXPECT_GT(computing, bare + 4.5e6);
  EXPECT_LT(computing, bare + 6e6);
  WorkOptions off = options("cg.B", Strategy::off);
  const double bare_ratio = done(kernel(off)).time_ns / bare;
  off.compute_ns = 5e6;
  EXPECT_GT(bare_ratio, 1);
  EXPECT_LT(done(kernel(off)).time_ns / computing, bare_ratio);
}

TEST(NicKernels, names__unknown_ones_and_too_few_processes_are_refused) {
  EXPECT_NE(kernel(options("zz.A")).failure, "");
  WorkOptions o = options("ep.C");
  o.network.host.process_cores = {0};
  EXPECT_NE(kernel(o).failure, "");
}

TEST(NicCore, computing__gives_way_to_interrupts_and_takes_as_long_as_without) {
  Scheduler scheduler;
  Parameters parameters;
  parameters.resume_ns = 100;
  Core core(scheduler, parameters);
  TimeNs computed = 0, interrupted = 0;
  const TimeNs start = scheduler.now();
  core.asked_by_process({[] { return 10'000.0; }, [&] { computed = scheduler.now(); }, true});
  scheduler.after(3000, [&] {
    core.interrupted_by({[] { return 500.0; }, [&] { interrupted = scheduler.now(); }});
  });
  while (scheduler.step()) {
  }
  EXPECT_EQ(interrupted - start, 3500U);
  EXPECT_EQ(computed - start, 10'600U);
  EXPECT_EQ(core.interrupt_ns(), 500);
  EXPECT_EQ(core.process_ns(), 10'100);
}

TEST(NicCore, other_work_does_not_give_way) {
  Scheduler scheduler;
  Parameters parameters;
  Core core(scheduler, parameters);
  TimeNs interrupted = 0;
  const TimeNs start = scheduler.now();
  core.asked_by_process({[] { return 10'000.0; }, [] {}});
  scheduler.after(3000, [&] {
    core.interrupted_by({[] { return 500.0; }, [&] { interrupted = scheduler.now(); }});
  });
  while (scheduler.step()) {
  }
  EXPECT_EQ(interrupted - start, 10'500U);
}

}  // namespace
}  // namespace omx::simulation::nic
