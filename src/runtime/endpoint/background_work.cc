// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/background_work.h"

namespace omx::runtime {

bool BackgroundWork::held_release() {
  if (!core_.engine->held_any()) return false;
  core_.now = core_.clock.read();
  core_.engine->release(core_.now);
  burst_.sends_are(0);
  return true;
}

}  // namespace omx::runtime
