// SPDX-License-Identifier: BSD-3-Clause
// fi_mr_*: registering memory.
#pragma once

#include <rdma/fi_domain.h>

namespace omx::fabric {

// The calls of a domain that register memory. Closing a region waits until accesses of peers have ended.
extern const fi_ops_mr kMemoryOps;

}  // namespace omx::fabric
