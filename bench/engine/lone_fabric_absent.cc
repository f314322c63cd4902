// SPDX-License-Identifier: BSD-3-Clause
#include "bench/engine/lone_message.h"

namespace omx::bench {

void lone_fabric(const LoneOptions& options) {
  lone_failed(options.api.c_str(),
              "this build has no libfabric provider: apt-get install libfabric-dev, and configure again");
}

}  // namespace omx::bench
