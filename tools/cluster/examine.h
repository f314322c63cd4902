// SPDX-License-Identifier: BSD-3-Clause
// Lets the agents of a cluster measure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "tools/cluster/cluster.h"
#include "tools/cluster/judge.h"

namespace omx::tools {

struct ExamineOptions {
  std::vector<std::string> links;
  std::uint64_t board = 0;
  std::uint64_t frames = 10'000;
  std::size_t partners = 0;    // 0: all
  std::size_t pairs_most = 0;  // of a round at once; 0: all
  TimeNs answer_limit = 20'000'000'000;
};

// Asks all agents for facts and links, then measures pair by pair. `progress` is called with a line for
// people. Hosts whose agent fails get a failure.
void cluster_examine(Cluster& cluster, const ExamineOptions& options, const Limits& limits,
                     const std::function<void(const std::string&)>& progress);

}  // namespace omx::tools
