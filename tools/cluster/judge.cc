// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace omx::tools {

std::string board_key(const Cluster& cluster, const std::string& fact) {
  return fmt::format("board{}.{}", cluster.board, fact);
}

std::string link_text(const std::string& kind) {
  if (kind == "raw") return "raw frames";
  return kind == "udp" ? "UDP" : "AF_XDP";
}

std::string trouble_text(Trouble trouble) {
  switch (trouble) {
    case Trouble::dead:
      return "no answer";
    case Trouble::unreached:
      return "not reached";
    case Trouble::lossy:
      return "loss";
    case Trouble::frame_size:
      return "frame size";
    case Trouble::twin:
      return "twice";
    case Trouble::slow:
      return "slow";
    case Trouble::link:
      return "link";
    case Trouble::clock:
      return "clock";
    case Trouble::differs:
      return "differs";
    case Trouble::note:
      break;
  }
  return "note";
}

Middle middle_of(std::vector<double> values) {
  if (values.empty()) return {};
  const auto median = [](std::vector<double>& of) {
    const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), middle, of.end());
    return *middle;
  };
  Middle result;
  result.median = median(values);
  for (double& value : values) value = std::abs(value - result.median);
  constexpr double kOfNormal = 1.4826;  // makes it the standard deviation of a normal distribution
  result.deviation = kOfNormal * median(values);
  return result;
}

LinkMiddle link_middle(const Cluster& cluster, const std::string& link) {
  std::vector<double> latencies, bandwidths, slownesses, frames;
  for (const Path& path : cluster.paths) {
    if (path.link != link || !path.reached) continue;
    if (path.half_round_trip_us > 0) latencies.push_back(path.half_round_trip_us);
    frames.push_back(static_cast<double>(path.frame));
    if (path.gbps <= 0) continue;
    bandwidths.push_back(path.gbps);
    slownesses.push_back(1 / path.gbps);
  }
  return {middle_of(std::move(latencies)), middle_of(std::move(bandwidths)), middle_of(std::move(slownesses)),
          static_cast<std::uint64_t>(middle_of(std::move(frames)).median)};
}

bool is_lossy(const Path& path, const Limits& limits) {
  return path.reached && (path.loss() > limits.loss || path.duplicates || path.damaged);
}

bool is_small(const Path& path, const Limits& limits) {
  return path.reached && !is_lossy(path, limits) && path.frame < path.expected;
}

bool is_slow_latency(const Path& path, const LinkMiddle& middle, const Limits& limits) {
  const double more = path.half_round_trip_us - middle.latency.median;
  return limits.deviations > 0 && !is_lossy(path, limits) &&
         more > limits.deviations * middle.latency.deviation && more > limits.latency_us &&
         more > limits.latency * middle.latency.median;
}

bool is_slow_bandwidth(const Path& path, const LinkMiddle& middle, const Limits& limits) {
  if (limits.deviations <= 0 || is_lossy(path, limits) || path.gbps <= 0 || path.frame < middle.frame)
    return false;
  return 1 / path.gbps - middle.slowness.median > limits.deviations * middle.slowness.deviation &&
         middle.bandwidth.median - path.gbps > limits.bandwidth * middle.bandwidth.median;
}

bool is_suspect(const Path& path, const LinkMiddle& middle, const Limits& limits) {
  return path.measured && (!path.reached || is_small(path, limits) || is_slow_latency(path, middle, limits) ||
                           is_slow_bandwidth(path, middle, limits));
}

std::string hosts_text(const Cluster& cluster, const std::vector<std::size_t>& hosts) {
  constexpr std::size_t kNamed = 4;
  std::string text;
  const std::size_t named = hosts.size() > kNamed + 1 ? kNamed : hosts.size();
  for (std::size_t i = 0; i < named; i++) {
    const bool last = i + 1 == named && named == hosts.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", cluster.hosts[hosts[i]].name);
  }
  if (named < hosts.size()) text += fmt::format(" and {} others", hosts.size() - named);
  return text;
}

std::vector<ClusterFinding> cluster_judge(const Cluster& cluster, const Limits& limits) {
  std::vector<ClusterFinding> findings;
  for (std::size_t i = 0; i < cluster.hosts.size(); i++) {
    const Host& host = cluster.hosts[i];
    if (host.failure.empty()) continue;
    findings.push_back(
        {Trouble::dead, {i}, fmt::format("{} could not be examined: {}", host.name, host.failure)});
  }
  for (auto& finding : paths_judge(cluster, limits)) findings.push_back(std::move(finding));
  for (auto& finding : facts_judge(cluster, limits)) findings.push_back(std::move(finding));
  std::stable_sort(findings.begin(), findings.end(), [](const ClusterFinding& a, const ClusterFinding& b) {
    return a.trouble != b.trouble ? a.trouble < b.trouble : a.weight > b.weight;
  });
  return findings;
}

}  // namespace omx::tools
