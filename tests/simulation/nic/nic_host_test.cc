// SPDX-License-Identifier: BSD-3-Clause
// The model of NIC and hosts obeys physics: each parameter moves results in the right direction.
#include <gtest/gtest.h>

#include "simulation/nic/collectives.h"
#include "simulation/nic/workloads.h"

namespace omx::simulation::nic {
namespace {

WorkOptions options(Strategy strategy, std::uint32_t size = 0, std::uint32_t iterations = 40) {
  WorkOptions o;
  o.network.host.strategy = strategy;
  o.size = size;
  o.iterations = iterations;
  return o;
}
WorkResult done(WorkResult result) {
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.time_ns, 0);
  return result;
}

TEST(NicHost, determinism__the_same_seed_sends_the_same_bytes_at_the_same_times) {
  WorkOptions o = options(Strategy::stream, 100'000, 10);
  const WorkResult a = done(pingpong(o)), b = done(pingpong(o));
  EXPECT_EQ(a.digest, b.digest);
  EXPECT_EQ(a.time_ns, b.time_ns);
  EXPECT_EQ(a.interrupts, b.interrupts);
  o.network.seed = 2;
  EXPECT_NE(done(pingpong(o)).digest, a.digest);
}

TEST(NicHost, interrupt_cost__lowers_the_rate_while_coalescing_is_off) {
  WorkOptions o = options(Strategy::off, 0, 1000);
  const double before = done(stream(o)).rate();
  o.network.parameters.irq_ns *= 2;
  EXPECT_LT(done(stream(o)).rate(), before);
}

TEST(NicHost, delay__raises_latency_by_as_much_with_timeout_and_not_with_marks) {
  WorkOptions o = options(Strategy::timeout);
  const double before = done(pingpong(o)).per_message_us();
  o.network.parameters.timeout_ns += 20'000;
  EXPECT_NEAR(done(pingpong(o)).per_message_us(), before + 20, 0.5);
  o = options(Strategy::openmx);
  const double marked = done(pingpong(o)).per_message_us();
  o.network.parameters.timeout_ns += 20'000;
  EXPECT_EQ(done(pingpong(o)).per_message_us(), marked);
  EXPECT_LT(marked, before);
}

TEST(NicHost, strategies__marks_give_the_latency_of_off_with_fewer_interrupts) {
  const WorkResult off = done(pingpong(options(Strategy::off, 30'000)));
  const WorkResult openmx = done(pingpong(options(Strategy::openmx, 30'000)));
  const WorkResult timeout = done(pingpong(options(Strategy::timeout, 30'000)));
  EXPECT_LT(openmx.time_ns, timeout.time_ns);
  EXPECT_LT(openmx.interrupts, off.interrupts);
}

TEST(NicHost, mark__on_an_earlier_fragment_costs_an_interrupt_and_time) {
  WorkOptions o = options(Strategy::openmx, 32'768);
  const WorkResult right = done(pingpong(o));
  o.mark_moved = 3;
  const WorkResult moved = done(pingpong(o));
  EXPECT_GT(moved.time_ns, right.time_ns);
}

TEST(NicHost, distance__a_shared_cache_is_nearest) {
  const auto at = [](std::uint32_t core) {
    WorkOptions o = options(Strategy::off);
    o.network.host.interrupts = Interrupts::bound;
    o.network.host.process_cores = {core};
    return done(pingpong(o));
  };
  const WorkResult same = at(0), shared = at(2), other = at(1);
  EXPECT_LT(shared.time_ns, same.time_ns) << "the process need not be interrupted";
  EXPECT_LT(shared.time_ns, other.time_ns);
  EXPECT_EQ(same.user.moved, 0U);
  EXPECT_GT(other.user.moved, 0U);
}

TEST(NicHost, round_robin__moves_the_drivers_state_between_caches) {
  WorkOptions o = options(Strategy::off);
  const WorkResult scattered = done(pingpong(o));
  o.network.host.interrupts = Interrupts::queues;
  const WorkResult queues = done(pingpong(o));
  EXPECT_GT(scattered.kernel.moved, 0U);
  EXPECT_EQ(queues.kernel.moved, 0U);
  o.network.host.interrupts = Interrupts::round_robin;
  o.network.parameters.line_far_ns *= 2;
  EXPECT_GT(done(pingpong(o)).time_ns, scattered.time_ns);
}

TEST(NicHost, sleep__costs_the_wake_up_only_where_nobody_polls) {
  WorkOptions o = options(Strategy::off);
  const double awake = done(pingpong(o)).per_message_us();
  o.network.host.may_sleep = true;
  EXPECT_GT(done(pingpong(o)).per_message_us(), awake + 1);
  o.network.host.interrupts = Interrupts::queues;  // to the core that polls
  const double bound = done(pingpong(o)).per_message_us();
  o.network.host.may_sleep = false;
  EXPECT_EQ(done(pingpong(o)).per_message_us(), bound);
}

TEST(NicHost, copies__the_engine_frees_the_processor_and_is_worth_it_for_large_frames) {
  const auto with = [](Copies copies) {
    WorkOptions o = options(Strategy::off, 1U << 20, 6);
    o.network.mode = wire::Mode::mxoe;
    o.network.mtu = 9000;
    o.network.host.interrupts = Interrupts::bound;
    o.network.host.process_cores = {2};
    o.network.host.copies = copies;
    return done(pingpong(o));
  };
  const WorkResult processor = with(Copies::processor), engine = with(Copies::engine),
                   ignored = with(Copies::ignored);
  EXPECT_LT(engine.time_ns, processor.time_ns);
  EXPECT_LT(engine.receiver_interrupt_ns, processor.receiver_interrupt_ns);
  EXPECT_LT(ignored.time_ns, engine.time_ns);
}

TEST(NicHost, copies__of_medium_messages_by_the_engine_cost_time) {
  WorkOptions o = options(Strategy::off, 32'768, 6);
  o.network.mode = wire::Mode::mxoe;
  o.network.mtu = 9000;
  o.network.host.interrupts = Interrupts::bound;
  o.network.host.process_cores = {2};
  const WorkResult processor = done(pingpong(o));
  o.network.host.copies = Copies::engine;
  EXPECT_EQ(done(pingpong(o)).time_ns, processor.time_ns) << "large messages only";
  o.network.host.copies = Copies::all;
  const WorkResult all = done(pingpong(o));
  EXPECT_NE(all.time_ns, processor.time_ns);
  o.network.parameters.engine_frame_least = 8192;
  EXPECT_EQ(done(pingpong(o)).time_ns, processor.time_ns) << "no fragment is large enough";
  o.network.parameters.engine_frame_least = 1024;
  o.network.parameters.engine_rate /= 2;
  EXPECT_GT(done(pingpong(o)).time_ns, all.time_ns) << "the driver waits for each copy";
}

TEST(NicHost, processes__all_to_all_and_a_sort_end_with_the_right_bytes) {
  WorkOptions o = options(Strategy::openmx, 40'000, 3);
  o.network.host.process_cores = {0, 1, 2, 3};
  const WorkResult scattered = done(alltoall(o));
  o.network.host.interrupts = Interrupts::bound;
  EXPECT_GT(done(alltoall(o)).time_ns, scattered.time_ns * 0.5);
  o.size = 1U << 16;
  done(sort(o));
}

TEST(NicHost, parameters__are_found_by_name) {
  Parameters p;
  for (const ParameterText& text : kParameterTexts) {
    double* found = p.find(text.name);
    ASSERT_NE(found, nullptr) << text.name;
    EXPECT_EQ(*found, text.value);
    EXPECT_FALSE(text.source.empty());
  }
  EXPECT_EQ(p.find("no_such"), nullptr);
}

}  // namespace
}  // namespace omx::simulation::nic
