// SPDX-License-Identifier: BSD-3-Clause
// A port of the switch that others use, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "simulation/engine/cross_traffic.h"
#include "simulation/engine/random_mix.h"
#include "simulation/engine/random_network.h"
#include "simulation/engine/world.h"

namespace omx::simulation {
namespace {

constexpr TimeNs kMs = protocol::kMillisecond;
// A byte takes a microsecond.
const PortLimits kSlow{.bits_per_second = 8'000'000, .delay = 0, .queue_bytes = 10'000};

TEST(SharedPort, others__fill_the_queue_up_to_their_limit) {
  Port port(kSlow);
  port.others(0, 4 * kMs, 150, 5 * kMs);
  EXPECT_EQ(port.queued(4 * kMs), 2000U) << "half of what leaves meanwhile";
  port.others(4 * kMs, 50 * kMs, 150, 5 * kMs);
  EXPECT_EQ(port.queued(50 * kMs), 5000U);
  EXPECT_EQ(port.room(50 * kMs), 5000U);
  port.others(50 * kMs, 52 * kMs, 50, 5 * kMs);
  EXPECT_EQ(port.queued(52 * kMs), 4000U) << "less comes than leaves";
  port.others(52 * kMs, 100 * kMs, 50, 5 * kMs);
  EXPECT_EQ(port.queued(100 * kMs), 0U);
}

TEST(SharedPort, others__send_nothing_while_ours_fill_more_than_their_limit) {
  Port port(kSlow);
  ASSERT_NE(port.send(0, 9000), 0U);
  port.others(0, 3 * kMs, 200, 5 * kMs);
  EXPECT_EQ(port.queued(3 * kMs), 6000U + Port::kCableBytes);
  port.others(3 * kMs, 9 * kMs, 200, 5 * kMs);
  EXPECT_EQ(port.queued(9 * kMs), 5000U);
}

TEST(SharedPort, cross_traffic__comes_and_goes_and_ends_whenever_it_is_looked_at) {
  for (std::uint64_t seed = 1; seed <= 20; seed++) {
    CrossTraffic often(seed), rarely(seed);
    Port a(kSlow), b(kSlow);
    std::uint64_t full = 0, empty = 0;
    for (TimeNs now = kMs; now <= 4000 * kMs; now += kMs) {
      often.advance(now, a);
      (a.queued(now) > 4000 ? full : empty)++;
      if (now % (500 * kMs) == 0) rarely.advance(now, b);
    }
    EXPECT_GT(full, 200U) << "seed " << seed;
    EXPECT_GT(empty, 1000U) << "seed " << seed;
    EXPECT_EQ(a.queued(4000 * kMs), 0U);
    EXPECT_EQ(b.queued(4000 * kMs), 0U);
  }
}

// A frame to the second host, of datagrams of 1000 bytes.
void gso_frame_send(World& world, std::uint32_t datagrams) {
  SimHost& from = world.host(0);
  wire::TxFrame& frame = from.frame_begin(1);
  const NicId to = World::nic_of(1);
  for (int i = 0; i < 6; i++) frame.header[i] = static_cast<std::byte>(to >> (40 - 8 * i));
  std::memset(frame.header + 6, 0, 58);
  frame.header_length = 64;
  std::vector<std::byte> data(datagrams * 1000 - 64);
  frame.segments[0] = {data.data(), data.size()};
  frame.segment_count = 1;
  frame.cut = 1000;
  from.frame_commit();
}

TEST(SharedPort, gso_frame__loses_the_datagrams_at_its_end) {
  World world{WorldOptions{}};
  HostOptions options;
  world.add(options);
  options.shared = SharedPort{kSlow, 0};
  world.add(options);
  gso_frame_send(world, 25);
  world.run_for(kMs);
  EXPECT_EQ(world.switch_port(1).bytes, 10 * 1000U + Port::kCableBytes);
  gso_frame_send(world, 2);
  world.run_for(kMs / 10);
  EXPECT_EQ(world.totals().dropped, 1U) << "no datagram has room";
}

TEST(SharedPort, random_congestion__slows_one_port_or_all_and_nothing_else) {
  unsigned one = 0, all = 0, others = 0, lossless = 0;
  for (std::uint64_t seed = 1; seed <= 200; seed++) {
    const RandomNetwork plain = random_network(seed, 1);
    RandomNetwork network = plain;
    random_congestion(seed, network);
    ASSERT_EQ(network.hosts.size(), plain.hosts.size());
    const auto slow = std::count_if(network.hosts.begin(), network.hosts.end(),
                                    [](const HostOptions& h) { return h.shared.has_value(); });
    if (slow == 1) one++;
    if (static_cast<std::size_t>(slow) == network.hosts.size()) all++;
    ASSERT_TRUE(slow == 1 || static_cast<std::size_t>(slow) == network.hosts.size());
    others += std::any_of(network.hosts.begin(), network.hosts.end(),
                          [](const HostOptions& h) { return h.shared && h.shared->others_seed != 0; });
    lossless += network.faults.loss == 0;
    EXPECT_EQ(network.faults.duplicate, plain.faults.duplicate);
  }
  EXPECT_GT(one, 60U);
  EXPECT_GT(all, 60U);
  EXPECT_GT(others, 90U);
  EXPECT_GT(lossless, 90U);
}

// The plan of these seeds loses nothing, so full queues lost it.
TEST(SharedPort, congestion__loses_frames_where_nothing_else_does) {
  std::uint64_t seeds = 0, lost = 0;
  for (std::uint64_t seed = 1; seed <= 60; seed++) {
    RandomNetwork network = random_network(seed, 1);
    random_congestion(seed, network);
    if (network.faults.loss > 0 || network.faults.burst_start > 0 || network.faults.lost_type ||
        network.world.path_mtu > 0)
      continue;
    const RunResult result = congestion_run({seed, 300, nullptr});
    EXPECT_EQ(result.failure, "") << "seed " << seed;
    seeds++;
    lost += result.lost > 0;
  }
  EXPECT_GT(seeds, 10U);
  EXPECT_GT(lost, seeds / 2);
}

}  // namespace
}  // namespace omx::simulation
