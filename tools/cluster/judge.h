// SPDX-License-Identifier: BSD-3-Clause
// Judges what was found out about a cluster. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tools/cluster/cluster.h"

namespace omx::tools {

// The worst first.
enum class Trouble : std::uint8_t {
  dead,
  unreached,
  lossy,
  frame_size,
  twin,
  slow,
  link,
  clock,
  differs,
  note
};

struct ClusterFinding {
  Trouble trouble = Trouble::note;
  std::vector<std::size_t> hosts;  // that the finding is about; empty: all
  std::string text;                // one sentence that names the remedy
  double weight = 0;               // orders findings of one kind

  bool unfit() const { return trouble != Trouble::note; }
};
std::string trouble_text(Trouble trouble);

struct Limits {
  double loss = 0;         // share of frames of a path that may be lost without a finding
  double clock_s = 0.5;    // of clocks, beyond the uncertainty of the measurement
  double deviations = 6;   // robust standard ones, from the median to an outlier; 0: speed is not judged
  double latency = 0.5;    // and by which share of the median
  double latency_us = 5;   // and by how much
  double bandwidth = 0.4;  // share of the median that is missing
};

// The middle of a sample, and its robust standard deviation (1.4826 times the median absolute deviation).
struct Middle {
  double median = 0, deviation = 0;
};
Middle middle_of(std::vector<double> values);

// The usual values of a link in this cluster.
struct LinkMiddle {
  Middle latency, bandwidth;
  // 1 / bandwidth, so that a path of a tenth of the bandwidth is far out, however wide the spread.
  Middle slowness;
  std::uint64_t frame = 0;  // bytes; paths of smaller frames have less bandwidth for that reason
};
LinkMiddle link_middle(const Cluster& cluster, const std::string& link);
bool is_lossy(const Path& path, const Limits& limits);
// The next three are false for lossy paths, as the loss explains what else is wrong.
bool is_small(const Path& path, const Limits& limits);
bool is_slow_latency(const Path& path, const LinkMiddle& middle, const Limits& limits);
bool is_slow_bandwidth(const Path& path, const LinkMiddle& middle, const Limits& limits);
// Returns whether a busy moment may have made the path look bad. What is lost is lost.
bool is_suspect(const Path& path, const LinkMiddle& middle, const Limits& limits);

// Returns all findings, the worst first.
std::vector<ClusterFinding> cluster_judge(const Cluster& cluster, const Limits& limits);
// The parts of it.
std::vector<ClusterFinding> paths_judge(const Cluster& cluster, const Limits& limits);
std::vector<ClusterFinding> facts_judge(const Cluster& cluster, const Limits& limits);

// Returns "h1, h2 and 3 others".
std::string hosts_text(const Cluster& cluster, const std::vector<std::size_t>& hosts);

}  // namespace omx::tools
