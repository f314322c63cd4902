// SPDX-License-Identifier: BSD-3-Clause
// fi_atomic, fi_fetch_atomic and fi_compare_atomic in all their forms, and what they can do.
#pragma once

#include <rdma/fi_atomic.h>

#include <cstdint>

namespace omx::fabric {

extern const fi_ops_atomic kAtomicCalls;

// Answers fi_query_atomic. Returns 0, or -FI_EOPNOTSUPP where the operation is not offered for the type.
// Thread-safe.
int atomic_query(fid_domain* domain, fi_datatype type, fi_op op, fi_atomic_attr* attr, std::uint64_t flags);

}  // namespace omx::fabric
