// SPDX-License-Identifier: BSD-3-Clause
// Prints what omx steer found, as text or JSON.
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
  std::optional<steering::SteerState> state;  // only of our own program
  std::string problem;                        // why the state could not be read
};

// Formats the state for people. `interface` is the one that was named, or empty for all.
std::string steer_text(const std::vector<SteerReport>& reports, const std::vector<FlowReport>& flows,
                       const std::string& interface);
// Formats the state as {"interfaces": [...], "flow_rules": [...], "arrivals": [...]}. Endpoints without
// frames are not in "endpoints".
std::string steer_json(const std::vector<SteerReport>& reports, const std::vector<FlowReport>& flows,
                       const std::vector<Arrivals>& arrivals);

}  // namespace omx::tools
