// SPDX-License-Identifier: BSD-3-Clause
// omx check --hosts: examines all hosts of a cluster and the paths between them.
#pragma once

#include <string>

#include "tools/cluster/examine.h"
#include "tools/cluster/judge.h"

namespace omx::tools {

inline constexpr int kFit = 0;
inline constexpr int kNotFit = 1;
inline constexpr int kNotChecked = 2;

struct CheckHostsOptions {
  std::string hosts;  // list or file
  std::string launch = "ssh -o BatchMode=yes -o ConnectTimeout=10 {host} {omx}";
  std::string program;  // omx on the hosts; empty: as here
  std::string links = "raw,udp";
  std::string heatmap;  // file; empty: none
  bool json = false;
  double loss_percent = 0;
  double deviations = Limits{}.deviations;
  double answer_seconds = 20;
  std::size_t sample = 0;  // partners; 0: all with up to kAllPairs hosts, else kSampled
  std::uint64_t frames = 10'000;
  std::uint64_t board = 0;
  std::size_t pairs = 0;  // at once; 0: all of a round
};
inline constexpr std::size_t kAllPairs = 16;
inline constexpr std::size_t kSampled = 8;

// Returns the path of this program.
std::string own_path();

// Starts an agent on each host and examines them. Returns the exit status.
int check_hosts_run(const CheckHostsOptions& options);
// Examines hosts whose agents can be reached already.
int check_cluster(Cluster cluster, const CheckHostsOptions& options);

}  // namespace omx::tools
