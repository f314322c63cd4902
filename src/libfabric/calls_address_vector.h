// SPDX-License-Identifier: BSD-3-Clause
// fi_av: the calls of address vectors.
#pragma once

#include <rdma/fi_domain.h>

namespace omx::fabric {

// Opens an address vector. Returns 0, or a negative error code whose reason is logged. Thread-safe.
int address_vector_open(fid_domain* domain, fi_av_attr* attr, fid_av** vector, void* context);

}  // namespace omx::fabric
