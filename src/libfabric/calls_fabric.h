// SPDX-License-Identifier: BSD-3-Clause
// fi_fabric and what it opens.
#pragma once

#include <rdma/fabric.h>

namespace omx::fabric {

// Opens the fabric. Returns 0, or a negative error code whose reason is logged. Thread-safe.
int fabric_open(fi_fabric_attr* attr, fid_fabric** fabric, void* context);

}  // namespace omx::fabric
