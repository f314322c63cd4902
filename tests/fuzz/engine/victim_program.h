// SPDX-License-Identifier: BSD-3-Clause
// The victim's program with the end of a run, and the conditions that must hold when the attack is over.
#pragma once

#include "tests/fuzz/engine/application.h"
#include "tests/fuzz/engine/honest_program.h"

namespace omx::fuzz {

class VictimProgram final : public Application {
 public:
  using Application::Application;

  // The end of a run, in this order.
  void end_attackers();  // ends everything but posted receives
  void drain();          // gives every waiting message a receive
  void exchange(HonestProgram& honest);
  void check_end();
};

}  // namespace omx::fuzz
