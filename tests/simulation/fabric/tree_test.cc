// SPDX-License-Identifier: BSD-3-Clause
// Ways through trees of switches.
#include "simulation/fabric/tree.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace omx::simulation::fabric {
namespace {

std::vector<Tier> tiers(const Tree& tree, const Path& path) {
  std::vector<Tier> result;
  for (std::uint8_t i = 0; i < path.count; i++) result.push_back(tree.tier(path.ports[i]));
  return result;
}

TEST(fabric_tree, one_switch) {
  const Tree tree(TreeShape{.hosts = 5});
  EXPECT_EQ(tree.leaves(), 1U);
  EXPECT_EQ(tree.ports(), 10U);
  EXPECT_EQ(tiers(tree, tree.path(1, 3, 7)), (std::vector{Tier::nic, Tier::leaf_down}));
}

TEST(fabric_tree, two_tiers) {
  const Tree tree(TreeShape{.hosts = 64, .hosts_per_leaf = 16, .oversubscription = 4});
  EXPECT_EQ(tree.leaves(), 4U);
  EXPECT_EQ(tree.pods(), 1U);
  EXPECT_EQ(tree.spines(), 4U);
  EXPECT_EQ(tiers(tree, tree.path(0, 15, 7)), (std::vector{Tier::nic, Tier::leaf_down}));
  EXPECT_EQ(tiers(tree, tree.path(0, 16, 7)),
            (std::vector{Tier::nic, Tier::leaf_up, Tier::spine_down, Tier::leaf_down}));
  EXPECT_EQ(tree.ports(), 64U + 64 + 16 + 16);
}

TEST(fabric_tree, three_tiers) {
  const Tree tree(TreeShape{.hosts = 1024, .hosts_per_leaf = 32, .leaves_per_pod = 8, .oversubscription = 4});
  EXPECT_EQ(tree.pods(), 4U);
  EXPECT_EQ(tree.spines(), 8U);
  EXPECT_EQ(tiers(tree, tree.path(0, 1023, 7)),
            (std::vector{Tier::nic, Tier::leaf_up, Tier::spine_up, Tier::core_down, Tier::spine_down,
                         Tier::leaf_down}));
  EXPECT_EQ(tiers(tree, tree.path(0, 255, 7)),
            (std::vector{Tier::nic, Tier::leaf_up, Tier::spine_down, Tier::leaf_down}));
}

TEST(fabric_tree, a_flow_keeps_its_way__flows_use_all_ways) {
  const Tree tree(TreeShape{.hosts = 1024, .hosts_per_leaf = 32, .leaves_per_pod = 8, .oversubscription = 4});
  std::set<std::uint32_t> up, cores;
  for (std::uint64_t flow = 0; flow < 2000; flow++) {
    const Path path = tree.path(3, 1000, flow);
    EXPECT_EQ(path.ports, tree.path(3, 1000, flow).ports);
    EXPECT_EQ(path.ports[0], 3U);
    EXPECT_EQ(path.ports[5], tree.port_to(1000));
    up.insert(path.ports[1]);
    cores.insert(path.ports[3]);
  }
  EXPECT_EQ(up.size(), 8U);
  EXPECT_EQ(cores.size(), 64U);
}

// Every port belongs to one link: frames by the same port have one switch before it and one behind it.
TEST(fabric_tree, ports_lead_to_one_place) {
  const Tree tree(TreeShape{.hosts = 96, .hosts_per_leaf = 8, .leaves_per_pod = 4, .oversubscription = 2});
  std::vector<std::set<std::uint32_t>> from(tree.ports()), to(tree.ports());
  for (std::uint32_t a = 0; a < 96; a++) {
    for (std::uint32_t b = 0; b < 96; b++) {
      if (a == b) continue;
      const Path path = tree.path(a, b, a * 96 + b);
      for (std::uint8_t i = 0; i < path.count; i++) {
        const Tier tier = tree.tier(path.ports[i]);
        if (tier == Tier::leaf_up) from[path.ports[i]].insert(tree.leaf_of(a));
        if (tier == Tier::spine_up) from[path.ports[i]].insert(tree.pod_of(a));
        if (tier == Tier::core_down) to[path.ports[i]].insert(tree.pod_of(b));
        if (tier == Tier::spine_down) to[path.ports[i]].insert(tree.leaf_of(b));
        if (tier == Tier::leaf_down) to[path.ports[i]].insert(b);
      }
    }
  }
  for (std::uint32_t port = 0; port < tree.ports(); port++) {
    EXPECT_LE(from[port].size(), 1U) << port;
    EXPECT_LE(to[port].size(), 1U) << port;
  }
}

}  // namespace
}  // namespace omx::simulation::fabric
