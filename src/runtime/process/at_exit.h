// SPDX-License-Identifier: BSD-3-Clause
// A process may exit with endpoints open. Then exit() destroys the memory of messages that are still on their
// way. So the progress threads end before, and the program keeps its exit status.
#pragma once

#include "runtime/process/open_endpoints.h"

namespace omx::runtime {

// Ends the progress threads of these endpoints at exit. Objects with static storage that are constructed
// later are destroyed before. Call it once for each.
void exit_watch(OpenEndpoints& endpoints);
// Ends that. Does nothing if they are not watched.
void exit_forget(OpenEndpoints& endpoints);

}  // namespace omx::runtime
