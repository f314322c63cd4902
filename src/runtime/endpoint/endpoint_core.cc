// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/endpoint_core.h"

namespace omx::runtime {

void EndpointCore::set_sleeping(bool sleeps) {
  if (sleeps == sleeping_) return;
  sleeping_ = sleeps;
  engine->set_sleeping(now, sleeps);
  out->flush();
}

bool EndpointCore::by_ring() const {
  return (settings.placement == Placement::ring && link->ring()) || (copies && copies->ring());
}

}  // namespace omx::runtime
