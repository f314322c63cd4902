// SPDX-License-Identifier: BSD-3-Clause
// The workload of stalls: hosts stop for shorter and longer than the peer time-out and come back, cables are
// cut for as long in both directions or one, at connect and in the middle of messages of every class.
//
// An application whose operation failed stops talking to that peer or connects again; each success of a
// connect begins a new stream of numbered messages. What must hold (stalls_checks.cc, stalls_end.cc): the
// messages of a stream arrive in order and without a hole; a message that is delivered has none before it
// that was lost without an error; nothing fails without a silence that is long enough; everything ends in
// time; success means what it says; when one side saw a stream fail, the other side cannot go on either;
// after a new connect all is well.
#pragma once

#include "simulation/engine/run.h"

namespace omx::simulation {

RunResult stalls_run(const RunOptions& options);

}  // namespace omx::simulation
