// SPDX-License-Identifier: BSD-3-Clause
// The workload stalls: hosts stop for shorter and longer than the peer time-out and continue. Cables are cut
// for similar times, in one direction or both, during connects and in the middle of messages of every class.
//
// An application whose operation failed stops talking to that peer or connects again. Each successful connect
// begins a new stream of numbered messages.
//
// Conditions that must hold (stalls_checks.h, stalls_end.h):
// - The messages of a stream arrive in order and without a hole.
// - No message before a delivered one was lost without an error.
// - Nothing fails without a silence that is long enough.
// - Every request ends in time, and success means what it says.
// - If one side saw a stream fail, the other side cannot continue either.
// - After a new connect all communication works.
#pragma once

#include "simulation/engine/run.h"

namespace omx::simulation {

RunResult stalls_run(const RunOptions& options);

}  // namespace omx::simulation
