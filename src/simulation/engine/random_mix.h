// SPDX-License-Identifier: BSD-3-Clause
// The mixed workload: everything an application can ask for, at random, on a network that loses, repeats,
// holds back and damages frames. Nobody dies, so the outcome is known exactly: every message is delivered
// once, whole, to the receive that MX matching says, each request ends once with the right status, and in the
// end nothing is left over.
#pragma once

#include "simulation/engine/run.h"

namespace omx::simulation {

RunResult random_mix_run(const RunOptions& options);

}  // namespace omx::simulation
