// SPDX-License-Identifier: BSD-3-Clause
// Many hosts at a switch, and abilities that hosts of today have and those of the papers had not.
#include <gtest/gtest.h>

#include <limits>

#include "simulation/nic/collectives.h"
#include "simulation/nic/incast.h"
#include "simulation/nic/parameters_today.h"
#include "simulation/nic/streams.h"
#include "simulation/nic/workloads.h"

namespace omx::simulation::nic {
namespace {

WorkOptions options(std::uint32_t hosts, std::uint32_t size, Strategy strategy = Strategy::openmx) {
  WorkOptions o;
  o.network.hosts = hosts;
  o.network.peers = Peers::hub;
  o.network.mtu = 9000;
  o.network.parameters = parameters_today();
  o.network.host.strategy = strategy;
  o.size = size;
  o.iterations = 40;
  o.window = 4;
  return o;
}
WorkResult done(WorkResult result) {
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.time_ns, 0);
  return result;
}
double load_ns(const WorkResult& r) {
  return (r.receiver_interrupt_ns + r.receiver_process_ns) / static_cast<double>(r.messages);
}

TEST(NicNetwork, parameters_today__name_each_number_once_with_a_source) {
  EXPECT_EQ(std::size(kParameterTextsToday), std::size(kParameterTexts));
  Parameters today = parameters_today();
  for (const ParameterText& text : kParameterTexts) {
    const auto* found = std::find_if(std::begin(kParameterTextsToday), std::end(kParameterTextsToday),
                                     [&](const ParameterText& p) { return p.name == text.name; });
    ASSERT_NE(found, std::end(kParameterTextsToday)) << text.name;
    EXPECT_EQ(*today.find(text.name), found->value);
    EXPECT_FALSE(found->source.empty());
    EXPECT_EQ(unit_of(text.name), text.unit);
  }
}

TEST(NicNetwork, parameters__both_sets_are_within_their_ranges) {
  EXPECT_EQ(parameters_wrong({}), "");
  EXPECT_EQ(parameters_wrong(parameters_today()), "");
}

TEST(NicNetwork, parameters__what_is_out_of_range_is_named) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const ParameterText& text : kParameterTexts) {
    for (const double value : {-1.0, infinite, std::numeric_limits<double>::quiet_NaN()}) {
      Parameters p;
      *p.find(text.name) = value;
      EXPECT_EQ(parameters_wrong(p).rfind(std::string(text.name) + " must be ", 0), 0U) << text.name << value;
    }
  }
  Parameters p;
  p.dma_latency_ns = p.hardware_ns + 1;
  EXPECT_NE(parameters_wrong(p).find("is part of hardware_ns"), std::string::npos);
}

TEST(NicNetwork, invalid__every_frame_of_a_slow_handler_is_counted) {
  WorkOptions o;
  o.network.host.strategy = Strategy::off;
  o.size = 128;
  o.iterations = 3000;
  const WorkResult r = done(invalid(o));
  const Parameters& p = o.network.parameters;
  EXPECT_NEAR(r.receiver_interrupt_ns / 3000, p.frame_ns + p.irq_ns, 5);
  EXPECT_EQ(r.receiver_interrupts, 3000U);
}

TEST(NicNetwork, incast__all_messages_of_all_hosts_arrive) {
  for (const std::uint32_t hosts : {2U, 9U, 40U}) {
    const WorkResult r = done(incast(options(hosts, 20'000)));
    EXPECT_EQ(r.messages, 40U * (hosts - 1));
    EXPECT_GE(r.latency_p99_us, r.latency_us / 2);
    EXPECT_EQ(r.dropped, 0U);
  }
}

TEST(NicNetwork, incast__needs_hosts_at_a_switch) {
  EXPECT_NE(incast(options(0, 100)).failure, "");
}

TEST(NicNetwork, incast__the_same_seed_gives_the_same_run_and_another_one_does_not) {
  WorkOptions o = options(5, 3000);
  o.gap_ns = 4000;
  const WorkResult a = done(incast(o)), b = done(incast(o));
  EXPECT_EQ(a.digest, b.digest);
  o.network.seed = 2;
  EXPECT_NE(done(incast(o)).digest, a.digest);
}

TEST(NicNetwork, gap__more_time_between_messages_means_less_waiting) {
  WorkOptions o = options(9, 128);
  o.gap_ns = 1000;
  const double busy = done(incast(o)).latency_us;
  o.gap_ns = 10'000;
  const WorkResult calm = done(incast(o));
  EXPECT_LT(calm.latency_us, busy);
  EXPECT_NEAR(calm.time_ns / static_cast<double>(calm.messages), 10'000, 3000);
}

TEST(NicNetwork, switch__costs_its_time_twice_a_round_trip) {
  WorkOptions o = options(2, 0);
  o.iterations = 20;
  const double before = done(pingpong(o)).per_message_us();
  o.network.parameters.switch_ns += 1000;
  EXPECT_NEAR(done(pingpong(o)).per_message_us(), before + 1, 0.01);
}

TEST(NicNetwork, link__a_faster_one_makes_large_messages_faster_and_short_ones_hardly) {
  const auto at = [](std::uint32_t size, double bits) {
    WorkOptions o = options(2, size);
    o.iterations = 6;
    o.network.parameters.link_bits = bits;
    return done(pingpong(o)).per_message_us();
  };
  EXPECT_GT(at(1U << 20, 10e9), at(1U << 20, 100e9) * 4);
  EXPECT_LT(at(0, 10e9), at(0, 100e9) * 1.2);
}

TEST(NicNetwork, poll_on__a_handler_that_polls_on_is_interrupted_less) {
  WorkOptions o = options(2, 1U << 18, Strategy::off);
  const WorkResult on = done(incast(o));
  o.network.parameters.poll_on = 0;
  const WorkResult once = done(incast(o));
  EXPECT_LT(on.receiver_interrupts, once.receiver_interrupts);
  EXPECT_LT(load_ns(on), load_ns(once));
}

TEST(NicNetwork, timeout_frames__end_the_wait_of_a_stream_and_not_that_of_a_lone_frame) {
  WorkOptions o = options(2, 32'768, Strategy::timeout);
  o.iterations = 20;
  const double few = done(pingpong(o)).per_message_us();
  o.network.parameters.timeout_frames = 2;
  EXPECT_LT(done(pingpong(o)).per_message_us(), few);
  o.size = 0;
  const double lone = done(pingpong(o)).per_message_us();
  o.network.parameters.timeout_frames = 0;
  EXPECT_EQ(done(pingpong(o)).per_message_us(), lone);
}

TEST(NicNetwork, line_socket__counts_for_the_other_cache_of_the_socket_only) {
  const auto at = [](std::uint32_t core, double socket_ns) {
    WorkOptions o = options(2, 0);
    o.iterations = 20;
    o.network.host.interrupts = Interrupts::bound;
    o.network.host.process_cores = {core};
    o.network.parameters.line_socket_ns = socket_ns;
    return done(pingpong(o)).time_ns;
  };
  EXPECT_LT(at(4, 60), at(4, 600));
  EXPECT_EQ(at(1, 60), at(1, 600));
  EXPECT_EQ(at(2, 60), at(2, 600));
}

TEST(NicNetwork, engine__waits_for_its_last_copy_and_needs_fewer_descriptors_unsplit) {
  const auto at = [](double latency_ns, double split) {
    WorkOptions o = options(2, 1U << 20);
    o.iterations = 4;
    o.network.host.copies = Copies::engine;
    o.network.parameters.engine_latency_ns = latency_ns;
    o.network.parameters.engine_split = split;
    return done(pingpong(o));
  };
  const WorkResult base = at(1000, 0);
  EXPECT_GT(at(50'000, 0).per_message_us(), base.per_message_us() + 40);
  EXPECT_GT(at(1000, 4).receiver_interrupt_ns, base.receiver_interrupt_ns);
}

TEST(NicNetwork, queues__spread_the_load_of_many_senders_over_the_processes) {
  WorkOptions o = options(17, 65'536);
  o.iterations = 8;
  o.network.parameters.link_bits = 400e9;
  o.network.host.process_cores = {0, 1, 2, 3};
  o.network.far_cores = {0};
  o.network.host.interrupts = Interrupts::queues;
  const double queues = done(incast(o)).rate();
  o.network.host.interrupts = Interrupts::bound;
  EXPECT_GT(queues, done(incast(o)).rate() * 1.5);
}

TEST(NicNetwork, mesh__every_host_exchanges_with_every_other) {
  WorkOptions o = options(6, 5000);
  o.network.peers = Peers::all;
  o.iterations = 3;
  done(alltoall(o));
}

// Four processes send at once. One lock that a frame holds all the time lets one core send at a time.
TEST(NicNetwork, queues_to_send__one_for_each_core_lets_all_send) {
  WorkOptions o = options(0, 128);
  o.network.host.interrupts = Interrupts::queues;
  o.network.host.process_cores = {0, 1, 2, 3};
  o.iterations = 300;
  o.window = 64;
  o.network.parameters.transmit_lock_ns = o.network.parameters.transmit_ns;
  const WorkResult each = done(pair_streams(o));
  EXPECT_EQ(each.messages, 4U * 300U);
  o.network.parameters.transmit_queues = 2;
  const WorkResult two = done(pair_streams(o));
  o.network.parameters.transmit_queues = 1;
  const WorkResult one = done(pair_streams(o));
  EXPECT_GT(one.time_ns, 1.2 * each.time_ns);
  EXPECT_LT(two.time_ns, one.time_ns);
  EXPECT_GE(one.time_ns, 4 * 300 * o.network.parameters.transmit_ns) << "one frame at a time";
}

TEST(NicNetwork, queues_to_send__make_no_difference_to_one_process) {
  WorkOptions o = options(0, 128);
  o.network.parameters.transmit_lock_ns = o.network.parameters.transmit_ns;
  const double alone = done(pair_streams(o)).time_ns;
  o.network.parameters.transmit_queues = 1;
  EXPECT_EQ(done(pair_streams(o)).time_ns, alone);
}

}  // namespace
}  // namespace omx::simulation::nic
