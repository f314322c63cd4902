// SPDX-License-Identifier: BSD-3-Clause
// Checks of a run of stalls once all outages (paused hosts, cut cables, restarts) are over. Every send and
// connect ends. If one side of a conversation can continue, so can the other, and no message of it is
// missing. Receives that wait for an ended conversation end. Each lost message is reported to an application.
// After new connects all hosts communicate, and nothing is left over.
#pragma once

#include <vector>

#include "simulation/engine/stalls_calls.h"

namespace omx::simulation {

class StallsEnd : public StallsCalls {
 protected:
  using StallsCalls::StallsCalls;

  void end();

 private:
  void settle(const char* when);
  bool quiet();
  void agreement_check(const std::vector<Call*>& tests);
  void complete_check(const Stream& stream);
  void dead_check();
  void silent_loss_check();
  void start_over();
  void leftovers();
};

}  // namespace omx::simulation
