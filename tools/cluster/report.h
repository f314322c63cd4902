// SPDX-License-Identifier: BSD-3-Clause
// Shows what `omx check --hosts` found.
#pragma once

#include <string>
#include <vector>

#include "tools/cluster/judge.h"

namespace omx::tools {

// Returns whether no finding says that the cluster is not fit.
bool is_fit(const std::vector<ClusterFinding>& findings);
std::string cluster_text(const Cluster& cluster, const std::vector<ClusterFinding>& findings);
std::string cluster_json(const Cluster& cluster, const std::vector<ClusterFinding>& findings);
// Returns a picture (SVG): senders from top to bottom, receivers from left to right. There is a panel for
// loss, one for latency and one for bandwidth, and a row of panels for each link.
std::string cluster_heatmap(const Cluster& cluster);

}  // namespace omx::tools
