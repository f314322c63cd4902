// SPDX-License-Identifier: BSD-3-Clause
// The conditions that hold when the outages are over: both sides agree, nothing is missing in conversations
// that continue, and all hosts can start over.
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
