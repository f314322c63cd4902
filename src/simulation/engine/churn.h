// SPDX-License-Identifier: BSD-3-Clause
// The workload of deaths: on top of what the mixed one does, endpoints crash and come back with the same id,
// disconnect, pause for longer than their peers are patient, and networks fall apart and heal.
//
// What must hold: a failure has a cause (churn_causes.cc); what waits for somebody who is gone ends within
// Config::peer_timeout and kSlack, what waits for one who is there within kAnswer; and in the end all can
// connect again, messages of each class pass between all, and nothing is left over. Pairs in which one end
// has no extension cannot always tell who forgot whom (docs/reference/wire.md 5): for them the causes are not
// examined.
#pragma once

#include "simulation/engine/run.h"

namespace omx::simulation {

RunResult churn_run(const RunOptions& options);

}  // namespace omx::simulation
