// SPDX-License-Identifier: BSD-3-Clause
// Collective operations are not offered. A caller gets -FI_ENOSYS.
#pragma once

#include <rdma/fi_collective.h>

namespace omx::fabric {

extern const fi_ops_collective kCollectiveCalls;

}  // namespace omx::fabric
