// SPDX-License-Identifier: BSD-3-Clause
// What an engine must not hold when all is over.
#pragma once

#include <string>

#include "simulation/engine/host.h"

namespace omx::simulation {

// Returns what a host still holds; empty: nothing. `timers`: it must not even have one that is armed.
std::string host_leftovers(SimHost& host, bool timers);

}  // namespace omx::simulation
