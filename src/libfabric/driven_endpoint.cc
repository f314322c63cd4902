// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/driven_endpoint.h"

namespace omx::fabric {

bool DrivenEndpoint::poll(bool look) {
  if (runtime_endpoint().foreign()) return false;
  runtime::EngineAccess direct(runtime_endpoint());
  return direct.poll(look);
}

}  // namespace omx::fabric
