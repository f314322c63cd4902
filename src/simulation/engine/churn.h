// SPDX-License-Identifier: BSD-3-Clause
// The workload churn. Beside what the random mix does, endpoints crash and restart with the same id,
// disconnect, and pause for longer than the peer time-out. Networks split and heal.
//
// Every failure must have a cause (churn_causes.h). A request to a peer that is gone ends within
// ReliabilityConfig::peer_timeout and kSlack, a request to a peer that is there within kAnswer. In the end
// all hosts can connect again, messages of each class pass between all of them, and nothing is left over. If
// one end of a pair has no extension, the two cannot always tell which side forgot the other
// (docs/reference/wire.md 5). The causes of such pairs are not examined.
#pragma once

#include "simulation/engine/run.h"

namespace omx::simulation {

RunResult churn_run(const RunOptions& options);

}  // namespace omx::simulation
