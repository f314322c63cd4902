// SPDX-License-Identifier: BSD-3-Clause
// fi_poll: which of several queues and counters have something new.
#pragma once

#include <rdma/fi_domain.h>

namespace omx::fabric {

// Opens a poll set. Returns 0, or a negative error code. Thread-safe.
int poll_set_open(fid_domain* domain, fi_poll_attr* attr, fid_poll** set);

}  // namespace omx::fabric
