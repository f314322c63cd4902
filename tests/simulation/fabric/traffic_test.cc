// SPDX-License-Identifier: BSD-3-Clause
// Messages between many hosts: what is sent arrives or is dropped, sizes are those published, and the ideal
// is one.
#include "simulation/fabric/traffic.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulation/fabric/message_sizes.h"
#include "simulation/fabric/peer_memory.h"

namespace omx::simulation::fabric {
namespace {

using protocol::kMillisecond;

FabricOptions small_tree() {
  FabricOptions options;
  options.tree = {.hosts = 32, .hosts_per_leaf = 8, .leaves_per_pod = 2, .oversubscription = 4};
  return options;
}

TrafficOptions traffic(std::string_view workload) {
  TrafficOptions options;
  options.fabric = small_tree();
  options.workload = workload;
  options.duration = 10 * kMillisecond;
  return options;
}

TEST(fabric, no_frame_vanishes) {
  Fabric fabric(small_tree());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 1; i < 32; i++) pairs.emplace_back(i, 0);
  ASSERT_TRUE(fabric.connect(pairs));
  fabric.tcp(fabric.tcp_add(31, 0, TcpKind::cubic)).start();
  for (std::uint32_t i = 1; i < 32; i++) fabric.host(i).send(0, 100'000, i);
  std::uint64_t most_in_flight = 0;
  for (int i = 0; i < 1000; i++) {
    fabric.run_for(10'000);
    const Fabric::Totals t = fabric.totals();
    std::uint64_t dropped = 0;
    for (const std::uint64_t tier : t.dropped) dropped += tier;
    ASSERT_EQ(t.frames, t.arrived + dropped + fabric.in_flight());
    ASSERT_EQ(dropped, t.engine_dropped + t.tcp_dropped);
    most_in_flight = std::max<std::uint64_t>(most_in_flight, fabric.in_flight());
  }
  EXPECT_GT(most_in_flight, 0U);
  EXPECT_GT(fabric.totals().engine_dropped, 0U);
  for (std::uint32_t port = fabric.tree().hosts(); port < fabric.tree().ports(); port++)
    EXPECT_LE(fabric.port(port).port().counters().deepest, fabric.options().queue_bytes);
  EXPECT_EQ(fabric.totals().dropped[static_cast<std::size_t>(Tier::nic)], 0U);
}

TEST(fabric_traffic, all_messages_come__whatever_the_sizes) {
  for (const std::string_view workload : {"w1", "w3", "w4", "web-search", "hpc"}) {
    TrafficOptions options = traffic(workload);
    if (workload == "w1") options.duration = kMillisecond;
    const TrafficResult r = traffic_run(options);
    EXPECT_EQ(r.failure, "") << workload;
    EXPECT_EQ(r.unfinished, 0U) << workload;
    EXPECT_GT(r.messages, 10U) << workload;
    EXPECT_GE(r.frames, r.frames_needed) << workload;
    EXPECT_EQ(r.ring_dropped, 0U) << workload;
  }
}

TEST(fabric_traffic, same_seed_same_run) {
  TrafficOptions options = traffic("hpc");
  options.tcp_flows = 2;
  const TrafficResult first = traffic_run(options), second = traffic_run(options);
  EXPECT_EQ(first.failure, "");
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_EQ(first.time, second.time);
  EXPECT_GT(first.tcp_share, 0);
  options.fabric.seed = 2;
  EXPECT_NE(traffic_run(options).digest, first.digest);
}

TEST(fabric_traffic, load__is_that_of_the_narrowest_tier) {
  TrafficOptions options = traffic("w1");
  options.duration = 10 * kMillisecond;
  const Tree tree(options.fabric.tree);
  const auto messages = traffic_draw(options, tree);
  double wire = 0, crossing = 0;
  for (const Message& m : messages) {
    const auto bytes = static_cast<double>(wire_bytes(1500, m.length));
    wire += bytes;
    crossing += tree.leaf_of(m.from) != tree.leaf_of(m.to) ? bytes : 0;
    EXPECT_NE(m.from, m.to);
  }
  EXPECT_TRUE(std::is_sorted(messages.begin(), messages.end(),
                             [](const Message& a, const Message& b) { return a.at < b.at; }));
  // A leaf has two links upwards: eight of 10 Gb/s in all.
  EXPECT_NEAR(crossing / (8 * 1.25 * static_cast<double>(options.duration)), 0.5, 0.05);
  EXPECT_GT(wire, crossing);
}

// The means that Homa's files name, but of w4: 194 kB are the mean if only the lengths of the points are
// sent.
TEST(fabric_sizes, means_and_bounds) {
  const std::pair<const char*, double> means[] = {{"w1", 230},    {"w2", 440},     {"w3", 1001},
                                                  {"w4", 134600}, {"w5", 2547000}, {"web-search", 1670000}};
  for (const auto& [name, mean] : means) {
    const auto sizes = message_sizes(name);
    ASSERT_TRUE(sizes) << name;
    EXPECT_NEAR(sizes->mean() / mean, 1, 0.25) << name << " has the mean " << sizes->mean();
    Random random(1);
    double sum = 0;
    constexpr int kDraws = 300'000;
    for (int i = 0; i < kDraws; i++) {
      const std::uint32_t length = sizes->draw(random);
      ASSERT_GE(length, 1U);
      ASSERT_LE(length, sizes->most());
      sum += length;
    }
    EXPECT_NEAR(sum / kDraws / sizes->mean(), 1, 0.2) << name;
  }
  EXPECT_FALSE(message_sizes("w6"));
}

TEST(fabric_ideal, alone__as_on_the_empty_fabric) {
  const FabricOptions options = small_tree();
  const Tree tree(options.tree);
  const std::vector<Message> messages = {{0, 0, 31, 1'000'000}};
  EXPECT_EQ(ideal_times(options, tree, messages)[0], empty_time(options, tree, messages[0]));
  // 680 frames with 32 bytes of headers and 24 of gap and preamble at 10 Gb/s, and some microseconds.
  EXPECT_NEAR(static_cast<double>(empty_time(options, tree, messages[0])), 842'000, 5'000);
}

TEST(fabric_ideal, the_shorter_one_goes_first) {
  const FabricOptions options = small_tree();
  const Tree tree(options.tree);
  const std::vector<Message> messages = {{0, 1, 0, 1'000'000}, {0, 2, 0, 100'000}};
  const auto times = ideal_times(options, tree, messages);
  EXPECT_EQ(times[1], empty_time(options, tree, messages[1]));
  const auto later = static_cast<double>(times[0] - empty_time(options, tree, messages[0]));
  EXPECT_NEAR(later, static_cast<double>(wire_bytes(1500, 100'000)) * 0.8, 10);
}

TEST(fabric_ideal, links_of_a_leaf__are_shared) {
  const FabricOptions options = small_tree();
  const Tree tree(options.tree);
  // Four hosts of a leaf with two links upwards, to four hosts of another one.
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 4; i++) messages.push_back({0, i, 8 + i, 1'000'000});
  auto times = ideal_times(options, tree, messages);
  std::sort(times.begin(), times.end());
  const auto sending = static_cast<double>(wire_bytes(1500, 1'000'000)) * 0.8;
  EXPECT_NEAR(static_cast<double>(times[1] - times[0]), 0, 10);
  EXPECT_NEAR(static_cast<double>(times[3] - times[0]), sending, 10);
}

TEST(fabric_peers, only_those_talked_to_cost_memory) {
  FabricOptions options;
  options.tree.hosts = 65;
  const PeerMemoryResult r = peer_memory_run(options);
  EXPECT_EQ(r.failure, "");
  EXPECT_EQ(r.known, 0U);
  EXPECT_EQ(r.connected.peers, 64U);
  EXPECT_EQ(r.large.peers, 64U);
  EXPECT_GE(r.connected.bytes, static_cast<double>(r.object));
  EXPECT_GE(r.large.bytes, r.small.bytes);
  EXPECT_LT(r.large.bytes, 4096) << "an idle peer keeps no buffers";
}

TEST(fabric_slowdown, buckets) {
  EXPECT_EQ(bucket_of(1), 0U);
  EXPECT_EQ(bucket_of(64), 0U);
  EXPECT_EQ(bucket_of(65), 1U);
  EXPECT_EQ(bucket_of(3U << 20), kBuckets.size() - 1);
  Slowdown slowdown;
  for (int i = 1; i <= 100; i++) slowdown.add(8, i);
  slowdown.add(1U << 20, 1000);
  EXPECT_EQ(slowdown.count(0), 100U);
  EXPECT_EQ(slowdown.quantiles(0).p50, 50);
  EXPECT_EQ(slowdown.quantiles(0).p99, 99);
  EXPECT_EQ(slowdown.all().p999, 1000);
}

}  // namespace
}  // namespace omx::simulation::fabric
