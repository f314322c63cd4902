// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fabric/tree.h"

#include <algorithm>

namespace omx::simulation::fabric {

namespace {

std::uint32_t parts(std::uint32_t whole, std::uint32_t part) {
  return (whole + part - 1) / part;
}

// Mixes all bits of a flow's number, as the hash of a switch does (the finaliser of SplitMix64).
std::uint64_t hash(std::uint64_t flow) {
  flow = (flow ^ (flow >> 30)) * 0xbf58476d1ce4e5b9ULL;
  flow = (flow ^ (flow >> 27)) * 0x94d049bb133111ebULL;
  return flow ^ (flow >> 31);
}

}  // namespace

Tree::Tree(const TreeShape& shape)
    : shape_(shape),
      per_leaf_(shape.hosts_per_leaf == 0 ? shape.hosts : shape.hosts_per_leaf),
      leaves_(parts(shape.hosts, per_leaf_)),
      spines_(leaves_ == 1 ? 0 : std::max<std::uint32_t>(per_leaf_ / shape.oversubscription, 1)),
      pods_(parts(leaves_, shape.leaves_per_pod)) {
  const std::uint32_t up = leaves_ * spines_;
  const std::uint32_t core = pods_ == 1 ? 0 : pods_ * spines_ * shape_.leaves_per_pod;
  const std::uint32_t counts[kTiers] = {shape.hosts, shape.hosts, up, up, core, core};
  for (std::size_t i = 0; i < kTiers; i++) first_[i + 1] = first_[i] + counts[i];
}

Tier Tree::tier(std::uint32_t port) const {
  const auto* after = std::upper_bound(first_.begin(), first_.end(), port);
  return static_cast<Tier>(after - first_.begin() - 1);
}

Path Tree::path(std::uint32_t from, std::uint32_t to, std::uint64_t flow) const {
  Path path;
  path.add(from);
  const std::uint32_t here = leaf_of(from), there = leaf_of(to);
  if (here != there) {
    const std::uint64_t way = hash(flow);
    const auto spine = static_cast<std::uint32_t>(way % spines_);
    path.add(first(Tier::leaf_up) + here * spines_ + spine);
    if (pod_of(from) != pod_of(to)) {
      const auto core = static_cast<std::uint32_t>((way >> 32) % shape_.leaves_per_pod);
      const auto port = [&](std::uint32_t pod) {
        return (pod * spines_ + spine) * shape_.leaves_per_pod + core;
      };
      path.add(first(Tier::spine_up) + port(pod_of(from)));
      path.add(first(Tier::core_down) + port(pod_of(to)));
    }
    path.add(first(Tier::spine_down) + there * spines_ + spine);
  }
  path.add(port_to(to));
  return path;
}

}  // namespace omx::simulation::fabric
