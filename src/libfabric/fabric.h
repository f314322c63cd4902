// SPDX-License-Identifier: BSD-3-Clause
// fi_fabric: all networks that this process reaches are one fabric.
#pragma once

#include <rdma/fabric.h>

#include "libfabric/references.h"

namespace omx::fabric {

struct Fabric : fid_fabric {
  References references;  // domains and event queues
};

}  // namespace omx::fabric
