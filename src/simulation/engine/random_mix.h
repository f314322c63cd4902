// SPDX-License-Identifier: BSD-3-Clause
// The workload random mix: every call an application can make, at random, on a network that loses, repeats,
// holds back and damages frames. No endpoint crashes, so the outcome is known exactly. Every message is
// delivered once, whole, to the receive that MX matching says. Each request ends once with the right status.
// In the end nothing is left over.
#pragma once

#include "simulation/engine/run.h"

namespace omx::simulation {

RunResult random_mix_run(const RunOptions& options);
// Runs the random mix where ports of the switch are slow, have short queues, and are used by others, too.
RunResult congestion_run(const RunOptions& options);

}  // namespace omx::simulation
