// SPDX-License-Identifier: BSD-3-Clause
// fi_endpoint: the calls of endpoints beside messages and memory.
#pragma once

#include <rdma/fi_endpoint.h>

namespace omx::fabric {

// Opens an endpoint, which fi_enable() makes usable. Returns 0, or a negative error code whose reason is
// logged. Thread-safe.
int endpoint_open(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context);

}  // namespace omx::fabric
