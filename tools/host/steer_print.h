// SPDX-License-Identifier: BSD-3-Clause
// What omx steer found, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steering/xdp/steer_attach.h"
#include "tools/host/arrivals.h"
#include "tools/host/steer_flows.h"

namespace omx::tools {

struct SteerReport {
  const steering::Attachment* attachment;
  std::optional<steering::SteerState> state;  // of one that is ours
  std::string problem;                        // why there is none
};

// `interface`: the one asked for, or empty for all.
std::string steer_text(const std::vector<SteerReport>& reports, const std::vector<FlowReport>& flows,
                       const std::string& interface);
// {"interfaces": [...], "flow_rules": [...], "arrivals": [...]}; endpoints without frames are left out of
// "endpoints".
std::string steer_json(const std::vector<SteerReport>& reports, const std::vector<FlowReport>& flows,
                       const std::vector<Arrivals>& arrivals);

}  // namespace omx::tools
