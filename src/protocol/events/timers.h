// SPDX-License-Identifier: BSD-3-Clause
// Runs the timers that are due, and moves those that would find nothing to do.
#pragma once

namespace omx::protocol {

struct State;

void timers_run(State& s);
// Moves the earliest timers to when they are due, or disarms them. Timers are lazy (timer.h), so without
// this a thread that sleeps between two messages would wake once more for each of them.
void timers_settle(State& s);

}  // namespace omx::protocol
