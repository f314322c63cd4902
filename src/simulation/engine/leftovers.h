// SPDX-License-Identifier: BSD-3-Clause
// Finds what an engine still holds at the end of a run.
#pragma once

#include <string>

#include "simulation/engine/host.h"

namespace omx::simulation {

// Returns what a host still holds, or an empty text. With `timers` even an armed timer counts.
std::string host_leftovers(SimHost& host, bool timers);

}  // namespace omx::simulation
