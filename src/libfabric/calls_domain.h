// SPDX-License-Identifier: BSD-3-Clause
// fi_domain and what it opens.
#pragma once

#include <rdma/fi_domain.h>

namespace omx::fabric {

// Opens the domain that the fi_info names. Returns 0, or a negative error code whose reason is logged.
// Thread-safe.
int domain_open(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context);

}  // namespace omx::fabric
