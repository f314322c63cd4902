// SPDX-License-Identifier: BSD-3-Clause
// Which ports there are in a tree of switches, and which of them a frame passes.
//
// Two tiers: leaves and the spines above them. Three tiers: a pod is such a tree, and each of its spines has
// a link to each core of its own group of cores. A leaf has hosts_per_leaf / oversubscription links upwards,
// a spine as many upwards as downwards.
#pragma once

#include <array>
#include <cstdint>

#include "simulation/fabric/options.h"

namespace omx::simulation::fabric {

enum class Tier : std::uint8_t { nic, leaf_down, leaf_up, spine_down, spine_up, core_down };
inline constexpr std::size_t kTiers = 6;
inline constexpr std::size_t kPathMost = 6;

struct Path {
  std::array<std::uint32_t, kPathMost> ports{};
  std::uint8_t count = 0;
  void add(std::uint32_t port) { ports[count++] = port; }
};

class Tree {
 public:
  explicit Tree(const TreeShape& shape);

  std::uint32_t hosts() const { return shape_.hosts; }
  std::uint32_t ports() const { return first_[kTiers]; }
  Tier tier(std::uint32_t port) const;
  std::uint32_t port_to(std::uint32_t host) const { return first(Tier::leaf_down) + host; }
  std::uint32_t leaf_of(std::uint32_t host) const { return host / per_leaf_; }
  std::uint32_t pod_of(std::uint32_t host) const { return leaf_of(host) / shape_.leaves_per_pod; }
  std::uint32_t leaves() const { return leaves_; }
  std::uint32_t pods() const { return pods_; }
  std::uint32_t spines() const { return spines_; }  // of a pod, which are a leaf's links upwards
  std::uint32_t leaves_per_pod() const { return shape_.leaves_per_pod; }
  std::uint32_t hosts_per_leaf() const { return per_leaf_; }

  // Returns the ports on the way from a host to another one. Frames of one `flow` take one way.
  Path path(std::uint32_t from, std::uint32_t to, std::uint64_t flow) const;

 private:
  std::uint32_t first(Tier tier) const { return first_[static_cast<std::size_t>(tier)]; }

  TreeShape shape_;
  std::uint32_t per_leaf_, leaves_, spines_, pods_;
  std::array<std::uint32_t, kTiers + 1> first_{};  // first port of each tier, and the number of ports
};

}  // namespace omx::simulation::fabric
