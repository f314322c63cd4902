// SPDX-License-Identifier: BSD-3-Clause
// Runs the timers that are due.
#pragma once

namespace omx::protocol {

struct State;

void timers_run(State& s);

}  // namespace omx::protocol
